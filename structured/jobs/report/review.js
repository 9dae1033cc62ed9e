"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const documents = data.documents;

const KINDS = { string: "text", number: "number", boolean: "true/false", null: "nothing" };
const ACTS = {
  accepted: ["Accept", "M3 8.5 6.5 12 13 4.5"],
  corrected: ["Correct", "M3 13h2.5L13 5.5 10.5 3 3 10.5z M9 4.5 11.5 7"],
  rejected: ["Reject", "M4 4l8 8 M12 4l-8 8"],
};
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const byId = (id) => document.getElementById(id);
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const element = (tag, properties = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

function icon(shape) {
  const [picture, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  path.setAttribute("d", shape);
  picture.append(path);
  return picture;
}

// Decisions: for the place of a document and the place of a value in it, [kind] or ["corrected", JSON text].

const KEY = `structured review ${data.digest}`;
const decisions = documents.map(() => new Map());
let kept = true;

function load() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    for (const [place, inside] of Object.entries(stored)) {
      for (const [number, decision] of Object.entries(inside)) decisions[place]?.set(Number(number), decision);
    }
  } catch {
    kept = false;
  }
}

function save() {
  const stored = {};
  decisions.forEach((inside, place) => {
    if (inside.size) stored[place] = Object.fromEntries(inside);
  });
  try {
    localStorage.setItem(KEY, JSON.stringify(stored));
  } catch {
    kept = false;
  }
}

const kindOf = (json) => (json === null ? "null" : json === "null" ? "null" : typeof JSON.parse(json));
const shownJson = (json) => (json === null ? "" : kindOf(json) === "string" ? JSON.parse(json) : json);
const currentJson = (place, number) => {
  const decision = decisions[place].get(number);
  return decision?.[0] === "corrected" ? decision[1] : documents[place].values[number].json;
};
const percent = (share) => `${Math.floor(share * 100 + 1e-9)}%`;

// The export: data with corrections, and without what was rejected.

function write(place, node) {
  if (typeof node === "number") {
    return decisions[place].get(node)?.[0] === "rejected" ? null : currentJson(place, node);
  }
  if (Array.isArray(node)) {
    const items = node.filter((item) => !isEmptied(place, item)).map((item) => write(place, item));
    return `[${items.join(", ")}]`;
  }
  const members = Object.entries(node).map(([name, inside]) => [name, write(place, inside)]);
  const written = members.filter(([, text]) => text !== null).map(([name, text]) => `${JSON.stringify(name)}: ${text}`);
  return `{${written.join(", ")}}`;
}

// Whether nothing is left of an item because of what was rejected in it.
function isEmptied(place, item) {
  const rejected = (node) =>
    typeof node === "number" ? decisions[place].get(node)?.[0] === "rejected" : Object.values(node).some(rejected);
  return rejected(item) && [null, "{}", "[]"].includes(write(place, item));
}

function gold() {
  const lines = [];
  documents.forEach((one, place) => {
    if (!decisions[place].size) return;
    const numbers = [...decisions[place].keys()].sort((a, b) => a - b);
    const reviewed = Object.fromEntries(numbers.map((n) => [one.values[n].path, decisions[place].get(n)[0]]));
    const [id, text, told] = [one.id, one.text, reviewed].map((part) => JSON.stringify(part));
    const value = write(place, one.data) ?? "null";
    lines.push(`{"id": ${id}, "document": ${text}, "value": ${value}, "reviewed": ${told}}\n`);
  });
  return lines.join("");
}

function exportGold() {
  const address = URL.createObjectURL(new Blob([gold()], { type: "application/jsonl" }));
  element("a", { href: address, download: "gold.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// What is shown: documents and values that pass the filters.

const filters = { query: null, field: null, limit: 1, unsupported: false, open: false };
let shown = [];
let at = 0;
let active = null;
let editing = false;

const isFiltered = () => filters.field !== null || filters.limit < 1 || filters.unsupported;
const passes = (value) =>
  (filters.field === null || value.field === filters.field) &&
  (filters.limit === 1 || (value.confidence !== null && value.confidence <= filters.limit)) &&
  (!filters.unsupported || value.match === "none");
const finds = (text) => filters.query.test(text);

function isShown(one, place) {
  if (filters.open && decisions[place].size === one.values.length) return false;
  if (isFiltered() && !one.values.some(passes)) return false;
  if (!filters.query) return true;
  return finds(one.text) || one.values.some((value, number) => finds(shownJson(currentJson(place, number))));
}

const numbersShown = () =>
  (documents[at]?.values ?? []).map((value, number) => number).filter((number) => passes(documents[at].values[number]));

function filter() {
  const query = byId("query").value.trim();
  filters.query = query ? new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+"), "iu") : null;
  filters.field = byId("field").value === "" ? null : Number(byId("field").value);
  filters.limit = byId("limit").valueAsNumber / 100;
  filters.unsupported = byId("unsupported").checked;
  filters.open = byId("open-only").checked;
  byId("limit-shown").textContent = `${byId("limit").value}%`;
  shown = documents.map((one, place) => place).filter((place) => isShown(documents[place], place));
  byId("found").textContent =
    shown.length === documents.length
      ? plural(documents.length, "document")
      : `${shown.length.toLocaleString("en")} of ${plural(documents.length, "document")}`;
  if (shown.length && !shown.includes(at)) at = shown[0];
  byId("list").scrollTop = 0;
  show(at);
}

// The list of documents: only the rows in sight exist.

const rowHeight = () => 3.625 * parseFloat(getComputedStyle(document.documentElement).fontSize);
const nameOf = (one) => one.text.slice(0, 2000).trimStart().split(/[\r\n]/, 1)[0].slice(0, 120) || "Empty document";

function row(position, height) {
  const place = shown[position];
  const one = documents[place];
  const measured = one.values.filter((value) => value.confidence !== null);
  const lacking = one.values.filter((value) => value.match === "none").length;
  const done = decisions[place].size;
  const facts = element("span", {}, `${place + 1}`);
  if (done) facts.append(element("i", { className: done === one.values.length ? "good" : "" }, done === one.values.length ? "✓ reviewed" : `${done} of ${one.values.length}`));
  if (measured.length) {
    const lowest = measured.reduce((a, b) => (b.confidence < a.confidence ? b : a));
    facts.append(element("i", { className: lowest.band }, `lowest ${percent(lowest.confidence)}`));
  }
  if (lacking) facts.append(element("i", { className: "bad" }, `${lacking} no support`));
  const made = element("div", { className: "row", id: `row-${place}`, role: "option" }, element("b", {}, nameOf(one)), facts);
  made.setAttribute("aria-selected", String(place === at));
  made.setAttribute("aria-setsize", String(shown.length));
  made.setAttribute("aria-posinset", String(position + 1));
  made.style.top = `${position * height}px`;
  made.onclick = () => {
    show(place);
    closeDocuments();
  };
  return made;
}

function drawList() {
  const [list, height] = [byId("list"), rowHeight()];
  byId("rows").style.height = `${shown.length * height}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 8);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + 8);
  const positions = new Set([shown.indexOf(at)].filter((position) => position >= 0));
  for (let position = first; position < last; position++) positions.add(position);
  byId("rows").replaceChildren(...[...positions].sort((a, b) => a - b).map((position) => row(position, height)));
  if (shown.includes(at)) list.setAttribute("aria-activedescendant", `row-${at}`);
  else list.removeAttribute("aria-activedescendant");
}

function scrollListTo(place) {
  const [list, height, position] = [byId("list"), rowHeight(), shown.indexOf(place)];
  if (position < 0) return;
  if (position * height < list.scrollTop) list.scrollTop = position * height;
  else if ((position + 1) * height > list.scrollTop + list.clientHeight) {
    list.scrollTop = (position + 1) * height - list.clientHeight;
  }
}

// The document: its text, cut wherever a span starts or ends, since spans may overlap.

function pieces(one) {
  const spans = one.values.map((value, number) => ({ number, span: value.span })).filter(({ span }) => span && span[0] < span[1]);
  const cuts = [...new Set([0, one.text.length, ...spans.flatMap(({ span }) => span)])].sort((a, b) => a - b);
  const starting = Map.groupBy(spans, ({ span }) => span[0]);
  let covering = [];
  return cuts.slice(0, -1).map((start, index) => {
    covering = [...covering.filter(({ span }) => span[1] > start), ...(starting.get(start) ?? [])];
    covering.sort((a, b) => a.span[1] - a.span[0] - (b.span[1] - b.span[0]));
    return { text: one.text.slice(start, cuts[index + 1]), numbers: covering.map(({ number }) => number) };
  });
}

function drawText() {
  const one = documents[at];
  const parts = pieces(one).map(({ text, numbers }) => {
    if (!numbers.length) return text;
    const innermost = one.values[numbers[0]];
    const made = element("mark", { className: `${innermost.band} ${innermost.match}`, title: numbers.map((n) => one.values[n].path).join(", ") }, text);
    made.dataset.values = numbers.join(" ");
    made.classList.toggle("faint", !numbers.some((n) => passes(one.values[n])));
    return made;
  });
  byId("text").replaceChildren(...(one.text ? parts : [element("p", { className: "empty" }, "This document is empty.")]));
  markActive();
  markFound();
}

const marksOf = (number) => byId("text").querySelectorAll(`mark[data-values~="${number}"]`);

function markActive() {
  for (const mark of byId("text").querySelectorAll("mark.active")) mark.classList.remove("active");
  if (active !== null) for (const mark of marksOf(active)) mark.classList.add("active");
}

function markFound() {
  if (!CSS.highlights) return;
  CSS.highlights.delete("search");
  if (!filters.query) return;
  const walker = document.createTreeWalker(byId("text"), NodeFilter.SHOW_TEXT);
  const nodes = [];
  let length = 0;
  while (walker.nextNode()) {
    nodes.push([length, walker.currentNode]);
    length += walker.currentNode.length;
  }
  const place = (offset, start) => {
    const [before, node] = nodes.findLast(([from]) => (start ? from <= offset : from < offset));
    return [node, offset - before];
  };
  const ranges = [];
  for (const found of documents[at].text.matchAll(new RegExp(filters.query.source, "giu"))) {
    const range = document.createRange();
    range.setStart(...place(found.index, true));
    range.setEnd(...place(found.index + found[0].length, false));
    ranges.push(range);
    if (ranges.length === 1000) break;
  }
  CSS.highlights.set("search", new Highlight(...ranges));
}

// The values: what they are, what supports them, and what the reviewer says.

function valueItem(number) {
  const value = documents[at].values[number];
  const [decision, corrected] = decisions[at].get(number) ?? [];
  const json = currentJson(at, number);
  const missing = kindOf(json) === "null";
  const content = shownJson(json);
  const pick = element(
    "button",
    { type: "button", className: "pick" },
    element("small", {}, value.path || "answer"),
    element("bdi", { className: missing || content === "" ? "none" : "" }, missing ? "nothing" : content === "" ? "empty text" : content),
  );
  if (corrected !== undefined) pick.append(element("del", {}, kindOf(value.json) === "null" ? "nothing" : shownJson(value.json)));
  const trust = element("div", { className: "trust" });
  if (value.confidence !== null) {
    const filled = element("i");
    filled.style.width = `${value.confidence * 100}%`;
    trust.append(
      element("span", { className: `meter ${value.band}`, ariaHidden: "true" }, filled),
      element("b", { className: value.band }, percent(value.confidence), element("span", { className: "unseen" }, " confidence")),
    );
  }
  trust.append(element("span", { className: value.match === "none" ? "lacking" : "" }, value.words));
  const acts = element("div", { className: "acts", role: "group", ariaLabel: `Decide on ${value.path || "the answer"}` });
  for (const [kind, [verb, shape]] of Object.entries(ACTS)) {
    const button = element("button", { type: "button", className: kind, ariaLabel: verb, ariaPressed: String(decision === kind), title: `${verb} (${verb[0].toLowerCase()})` }, icon(shape));
    button.onclick = () => {
      choose(number);
      if (kind === "corrected") edit();
      else decide(decision === kind ? null : [kind]);
    };
    acts.append(button);
  }
  const item = element("li", { className: `value ${decision ?? ""}` }, pick, acts, trust);
  item.dataset.value = number;
  item.onclick = (event) => {
    if (!event.target.closest(".acts, .edit")) choose(number);
  };
  if (number === active) {
    item.classList.add("active");
    pick.setAttribute("aria-current", "true");
    if (editing) item.append(editor(number));
  }
  return item;
}

function drawValues() {
  const one = documents[at];
  const numbers = numbersShown();
  const rest = one.values.length - numbers.length;
  byId("values").replaceChildren(...numbers.map(valueItem));
  if (!one.values.length) byId("values").append(element("p", {}, "This document has no values."));
  else if (rest) byId("values").append(element("p", {}, `${plural(rest, "more value")} ${rest === 1 ? "does" : "do"} not pass the filters.`));
  byId("accept-rest").disabled = numbers.every((number) => decisions[at].has(number));
}

const itemOf = (number) => byId("values").querySelector(`[data-value="${number}"]`);

function drawCounts() {
  const [values, done] = [documents.reduce((sum, one) => sum + one.values.length, 0), decisions.reduce((sum, inside) => sum + inside.size, 0)];
  const reviewed = decisions.filter((inside) => inside.size).length;
  byId("progress").textContent = `${done.toLocaleString("en")} of ${plural(values, "value")} reviewed`;
  byId("export").textContent = reviewed ? `Export (${reviewed.toLocaleString("en")})` : "Export";
  byId("export").ariaLabel = `Export ${plural(reviewed, "reviewed document")}`;
  byId("export").disabled = !reviewed;
  byId("kept").textContent = kept
    ? "Decisions are kept in this browser. Export them to use them elsewhere."
    : "This browser keeps no decisions: export them before you close the page.";
  if (at in documents) {
    byId("document-name").replaceChildren(
      `Document ${at + 1}`,
      element("small", {}, `${decisions[at].size} of ${documents[at].values.length.toLocaleString("en")} reviewed`),
    );
  }
}

// Going about.

function show(place, from = "start") {
  at = place;
  editing = false;
  const nothing = !shown.length;
  byId("reading").hidden = byId("judging").hidden = nothing;
  if (!nothing) {
    const numbers = numbersShown();
    const open = numbers.find((number) => !decisions[at].has(number));
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
  if (decision) decisions[at].set(active, decision);
  else decisions[at].delete(active);
  const path = documents[at].values[active].path || "answer";
  editing = false;
  changed();
  if (move) step(1);
  else itemOf(active)?.querySelector(".pick").focus({ preventScroll: true });
  say(`${path} ${decision ? decision[0] : "to be reviewed"}`);
}

function acceptRest() {
  const open = numbersShown().filter((number) => !decisions[at].has(number));
  for (const number of open) decisions[at].set(number, ["accepted"]);
  changed();
  say(`${plural(open.length, "value")} accepted`);
}

function changed() {
  save();
  drawValues();
  drawList();
  drawCounts();
}

function say(text) {
  byId("said").textContent = text;
}

// Corrections.

function edit() {
  if (active === null) return;
  editing = true;
  drawValues();
  itemOf(active).querySelector(".edit textarea:enabled, .edit select").focus();
  bringIntoSight();
}

// The kind of a value that is missing is that of the same field elsewhere.
function usualKind(field) {
  for (const one of documents) {
    for (const value of one.values) if (value.field === field && kindOf(value.json) !== "null") return kindOf(value.json);
  }
  return "string";
}

function selectedText() {
  const selection = getSelection();
  return selection.rangeCount && byId("text").contains(selection.getRangeAt(0).commonAncestorContainer) ? selection.toString() : "";
}

function editor(number) {
  const value = documents[at].values[number];
  const json = currentJson(at, number);
  const kind = element("select", { ariaLabel: "Kind of value" });
  for (const [name, word] of Object.entries(KINDS)) kind.append(element("option", { value: name }, word));
  kind.value = kindOf(json) === "null" ? usualKind(value.field) : kindOf(json);
  const text = element("textarea", { rows: 1, value: selectedText() || shownJson(json), spellcheck: false, ariaLabel: `Correct value of ${value.path || "the answer"}` });
  if (kindOf(json) === "null" && text.value === "null") text.value = "";
  const problem = element("p", { role: "alert", hidden: true });
  const keep = element("button", { type: "submit", className: "main" }, "Save");
  const leave = element("button", { type: "button", className: "quiet" }, "Cancel");
  const made = element("form", { className: "edit" }, text, kind, problem, element("div", {}, keep, leave));
  kind.onchange = () => (text.disabled = kind.value === "null");
  kind.onchange();
  leave.onclick = () => {
    editing = false;
    drawValues();
    choose(number, true);
  };
  made.onsubmit = (event) => {
    event.preventDefault();
    const written = read(kind.value, text.value);
    problem.hidden = written !== null;
    if (written !== null) decide(written === value.json ? ["accepted"] : ["corrected", written]);
    else problem.textContent = kind.value === "number" ? "Write a number as in JSON, such as 1250.5." : "Write true or false.";
  };
  made.onkeydown = (event) => {
    if (event.key === "Escape") leave.click();
    else if (event.key === "Enter" && !event.shiftKey && event.target === text) made.requestSubmit();
    else return;
    event.preventDefault();
  };
  text.onfocus = () => text.select();
  return made;
}

// The JSON text of what was written, or null if it is not of its kind.
function read(kind, text) {
  if (kind === "string") return JSON.stringify(text);
  if (kind === "null") return "null";
  const bare = text.trim();
  return (kind === "number" ? NUMBER.test(bare) : ["true", "false"].includes(bare)) ? bare : null;
}

// Colours, panels and keys.

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.style.colorScheme || (dark.matches ? "dark" : "light")) === "dark";

function nameTheme() {
  byId("theme").textContent = isDark() ? "☀" : "☾";
  byId("theme").title = byId("theme").ariaLabel = isDark() ? "Use light colours" : "Use dark colours";
}

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
  byId("theme").onclick = () => {
    document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
    nameTheme();
  };
  dark.onchange = nameTheme;
  document.onkeydown = onKey;
  nameTheme();
  filter();
}

start();
