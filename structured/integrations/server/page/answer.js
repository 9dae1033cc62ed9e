// The answer: the text with its evidence, and the values with what supports them.

const { words: WORDS, bands: BANDS } = JSON.parse(byId("data").textContent);

// A number as JSON has it: JavaScript has no whole numbers above 2^53, and writes `1.0` as `1`.
class WrittenNumber {
  constructor(source) {
    this.source = source;
  }
}

const exactJson = (text) =>
  JSON.parse(text, (_, value, context) => (typeof value === "number" ? new WrittenNumber(context?.source ?? String(value)) : value));

const NAMES = { null: "nothing", '""': "empty text", "[]": "empty list", "{}": "empty object" };

function nameOfValue(value) {
  if (value instanceof WrittenNumber) return value.source;
  return NAMES[JSON.stringify(value)] ?? (typeof value === "string" ? value : JSON.stringify(value));
}

const bandOf = (confidence) => (confidence === null ? "unknown" : Object.keys(BANDS).find((band) => confidence >= BANDS[band]));

// The offsets of characters (code points) in UTF-16.
function utf16Offsets(text) {
  const offsets = [0];
  for (const character of text) offsets.push(offsets.at(-1) + character.length);
  return offsets;
}

// What is shown: `text`, and `values` as the shared parts of the pages have them.
let shown = { text: "", values: [] };

function readAnswer(text, json) {
  const [answer, exact] = [JSON.parse(json), exactJson(json)];
  const offsets = utf16Offsets(text);
  const values = answer.evidence.map((row, number) => ({
    path: row.path,
    name: nameOfValue(exact.evidence[number].value),
    isNamed: typeof row.value !== "string" && !(exact.evidence[number].value instanceof WrittenNumber) && typeof row.value !== "boolean",
    span: row.start === null ? null : [offsets[row.start], offsets[row.end]],
    match: row.match,
    words: WORDS[row.match],
    confidence: row.confidence,
    band: bandOf(row.confidence),
  }));
  const known = new Set(values.map((value) => value.path));
  for (const path of answer.missing ?? []) {
    if (!known.has(path)) values.push({ path, name: "missing", isNamed: true, span: null, match: "absent", words: WORDS.absent, confidence: null, band: "unknown" });
  }
  if (!values.length) values.push({ path: "", name: nameOfValue(exact.value), isNamed: true, span: null, match: "absent", words: WORDS.absent, confidence: null, band: "unknown" });
  return { ...answer, text, values, missing: values.filter((value) => value.match === "absent").length };
}

function drawAnswer() {
  const starts = new Set(blocks(shown.text));
  const drawn = [];
  for (const { start, text, numbers } of pieces(shown, starts)) {
    if (starts.has(start)) drawn.push(element("div", {}));
    drawn.at(-1).append(numbers.length ? markOf(text, numbers) : text);
  }
  byId("text").replaceChildren(...drawn);
  byId("values").replaceChildren(...shown.values.map(valueItem));
  byId("text").scrollTop = byId("values").scrollTop = 0;
}

function markOf(text, numbers) {
  const { band, match } = shown.values[numbers[0]];
  const mark = element("mark", { className: `${band} ${match}`, title: numbers.map((number) => shown.values[number].path).join(", ") }, text);
  mark.dataset.values = numbers.join(" ");
  mark.onpointerenter = () => choose(numbers[0], { scrolls: byId("values") });
  mark.onclick = () => pickOf(numbers[0]).focus();
  return mark;
}

function valueItem(value, number) {
  const trust = trustOf(value);
  trust.id = `trust-${number}`;
  const pick = element(
    "button",
    { type: "button", className: "pick", "aria-describedby": trust.id },
    element("small", {}, value.path || "answer"),
    element("bdi", { className: value.isNamed ? "none" : "" }, value.name),
  );
  pick.onfocus = pick.onclick = () => choose(number, { scrolls: byId("text") });
  const item = element("li", { className: "value" }, pick, trust);
  item.onpointerenter = () => choose(number, { scrolls: byId("text") });
  item.onclick = () => pick.focus();
  return item;
}

const pickOf = (number) => byId("values").children[number].querySelector(".pick");
const marksOf = (number) => byId("text").querySelectorAll(`mark[data-values~="${number}"]`);

// Show which value it is, on both sides, and scroll the other side to it.
function choose(number, { scrolls }) {
  for (const one of document.querySelectorAll(".active")) one.classList.remove("active");
  for (const one of [byId("values").children[number], ...marksOf(number)]) one.classList.add("active");
  const [target] = scrolls === byId("text") ? marksOf(number) : [byId("values").children[number]];
  if (!target) return;
  const [inner, outer] = [target.getBoundingClientRect(), scrolls.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) scrolls.scrollTop += inner.top - outer.top - outer.height / 3;
}

// Arrows go from value to value.
function onValueKey(event) {
  const picks = [...byId("values").querySelectorAll(".pick")];
  const at = picks.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: picks.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  picks[next]?.focus();
}
