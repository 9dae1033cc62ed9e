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

function isShown(one) {
  if (filters.open && doneIn(one) === one.values.length) return false;
  if (isFiltered() && !one.values.some(passes)) return false;
  if (!filters.query) return true;
  return finds(one.name) || finds(one.text) || one.values.some((value) => finds(shownJson(currentJson(value))));
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
  shown = documents.map((one, place) => place).filter((place) => isShown(documents[place]));
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
const nameOf = (one) => one.name || one.text.slice(0, 2000).trimStart().split(/[\r\n]/, 1)[0].slice(0, 120) || "Empty document";

function row(position, height) {
  const place = shown[position];
  const one = documents[place];
  const measured = one.values.filter((value) => value.confidence !== null);
  const lacking = one.values.filter((value) => value.match === "none").length;
  const done = doneIn(one);
  const facts = element("span", {}, `${place + 1}`);
  if (one.error) facts.append(element("i", { className: "bad" }, "failed"));
  if (done) facts.append(element("i", { className: done === one.values.length ? "good" : "" }, done === one.values.length ? "✓ reviewed" : `${done} of ${one.values.length}`));
  if (measured.length) {
    const lowest = measured.reduce((a, b) => (b.confidence < a.confidence ? b : a));
    facts.append(element("i", { className: lowest.band }, `lowest ${percent(lowest.confidence)}`));
  }
  const flagged = one.flags.length + one.values.reduce((sum, value) => sum + (value.flags?.length ?? 0), 0);
  if (flagged) facts.append(element("i", { className: "bad" }, plural(flagged, "flag")));
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
