// Going about.

function show(place, from = "start") {
  at = place;
  editing = false;
  const nothing = !shown.length;
  byId("reading").hidden = byId("judging").hidden = nothing;
  if (!nothing) {
    const numbers = numbersShown();
    const open = numbers.find((number) => !documents[at].values[number].decision);
    active = (from === "end" ? numbers.at(-1) : from === "open" ? open : undefined) ?? numbers[0] ?? null;
    drawText();
    drawValues();
    byId("text").scrollTop = byId("values").scrollTop = 0;
    if (active !== null) bringIntoSight();
    const position = shown.indexOf(at);
    byId("previous").disabled = position <= 0;
    byId("next").disabled = position === shown.length - 1;
  }
  scrollListTo(at);
  drawList();
  drawCounts();
}

function bringIntoSight() {
  const into = (inside, box, margin) => {
    const [a, b] = [inside.getBoundingClientRect(), box.getBoundingClientRect()];
    if (a.top < b.top + margin) box.scrollTop += a.top - b.top - margin;
    else if (a.bottom > b.bottom - margin) box.scrollTop += Math.min(a.bottom - b.bottom + margin, a.top - b.top - margin);
  };
  const [mark] = marksOf(active);
  if (mark) into(mark, byId("text"), Math.min(96, byId("text").clientHeight / 4));
  const [box] = boxesOf(active);
  if (box) into(box, byId("sheets"), byId("sheets").clientHeight / 4);
  const item = itemOf(active);
  if (item) into(item, byId("values"), 8);
}

function choose(number, focus = false) {
  if (number !== active) {
    active = number;
    editing = false;
    const focused = document.activeElement?.closest?.("[data-value]")?.dataset.value;
    drawValues();
    if (focused !== undefined) focus = true;
    markActive();
  }
  if (focus) itemOf(active)?.querySelector(".pick").focus({ preventScroll: true });
  bringIntoSight();
}

function step(by) {
  const numbers = numbersShown();
  const next = numbers[numbers.indexOf(active) + by];
  if (next !== undefined && active !== null) choose(next, true);
  else if (leaf(by, by < 0 ? "end" : "start") && active !== null) choose(active, true);
}

function leaf(by, from = "start") {
  const next = shown[shown.indexOf(at) + by];
  if (next === undefined) return false;
  show(next, from);
  say(`Document ${next + 1}, ${nameOf(documents[next])}`);
  return true;
}

function decide(decision, { move = false } = {}) {
  if (active === null) return;
  const value = documents[at].values[active];
  const path = value.path || "answer";
  const list = value.added && decision?.[0] === "rejected" && listsOf(documents[at].data).find((one) => one.items.includes(value));
  if (list) return removeItem(list, value);
  value.decision = decision ?? undefined;
  editing = false;
  changed();
  if (move) step(1);
  else itemOf(active)?.querySelector(".pick").focus({ preventScroll: true });
  say(`${path} ${decision ? decision[0] : "to be reviewed"}`);
}

function acceptRest() {
  const open = numbersShown().map((number) => documents[at].values[number]).filter((value) => !value.decision);
  for (const value of open) value.decision = ["accepted"];
  changed();
  say(`${plural(open.length, "value")} accepted`);
}

function changed() {
  save();
  drawValues();
  drawList();
  drawCounts();
}

// Panels and keys.

function toggle(button, panel) {
  const open = byId(panel).classList.toggle("open");
  byId(button).setAttribute("aria-expanded", String(open));
  if (open) byId(panel).querySelector("input, [tabindex]").focus();
}

function closeDocuments() {
  if (!byId("documents").classList.contains("open")) return;
  toggle("open-documents", "documents");
  byId("open-documents").focus();
}

function onKey(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || byId("help").open) return;
  if (key === "Escape") return closeDocuments();
  if (target.closest("input, select, textarea")) return;
  const arrow = key.startsWith("Arrow");
  if (!arrow && !byId("letters").checked) return;
  if (arrow && target.closest("#text") && ["ArrowUp", "ArrowDown"].includes(key)) return;
  const inList = target.closest("#list") !== null;
  const acts = {
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => (inList ? leaf(1) : step(1)),
    ArrowUp: () => (inList ? leaf(-1) : step(-1)),
    ArrowRight: () => leaf(1),
    ArrowLeft: () => leaf(-1),
    a: () => decide(["accepted"], { move: true }),
    r: () => decide(["rejected"], { move: true }),
    c: edit,
    n: addHere,
    u: () => decide(null),
    A: acceptRest,
    "/": () => {
      if (getComputedStyle(byId("filters")).display === "none") toggle("open-filters", "filters");
      byId("query").focus();
    },
    "?": () => byId("help").showModal(),
  };
  if (!Object.hasOwn(acts, key) || (!shown.length && !["/", "?"].includes(key))) return;
  event.preventDefault();
  acts[key]();
}

function onMark(event) {
  const mark = event.target.closest("mark");
  if (!mark || !getSelection().isCollapsed) return;
  const numbers = mark.dataset.values.split(" ").map(Number).filter((number) => passes(documents[at].values[number]));
  if (numbers.length) choose(numbers[(numbers.indexOf(active) + 1) % numbers.length]);
}

// Show the document that the address names: `review.html#document-8f1e…`.
function showNamed() {
  const place = documents.findIndex((one) => location.hash === `#document-${one.id}`);
  if (place < 0) return;
  if (!shown.includes(place)) {
    byId("filters").querySelectorAll("input:not([type=range]), select").forEach((one) => (one.type === "checkbox" ? (one.checked = false) : (one.value = "")));
    byId("limit").value = 100;
    filter();
  }
  show(place);
}

function start() {
  load();
  byId("field").append(element("option", { value: "" }, "all"));
  data.fields.forEach((name, number) => byId("field").append(element("option", { value: number }, name || "answer")));
  let waiting = 0;
  byId("query").oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  };
  for (const id of ["field", "limit", "unsupported", "open-only"]) byId(id).oninput = filter;
  let drawn = 0;
  const redraw = () => {
    cancelAnimationFrame(drawn);
    drawn = requestAnimationFrame(drawList);
  };
  byId("list").onscroll = redraw;
  new ResizeObserver(redraw).observe(byId("list"));
  byId("text").onclick = onMark;
  byId("previous").onclick = () => leaf(-1);
  byId("next").onclick = () => leaf(1);
  byId("accept-rest").onclick = acceptRest;
  byId("export").onclick = exportGold;
  byId("open-help").onclick = () => byId("help").showModal();
  byId("open-documents").onclick = () => toggle("open-documents", "documents");
  byId("open-filters").onclick = () => toggle("open-filters", "filters");
  document.onkeydown = onKey;
  window.onhashchange = showNamed;
  startTheme();
  filter();
  showNamed();
}

start();
