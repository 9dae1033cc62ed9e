// Corrections, and items that are added and removed.

// For each kind that can be written freely: its name, what is of it, and what to write.
const KINDS = {
  text: ["text", () => true],
  number: ["number", (text) => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text), "Write a number as in JSON, such as 1250.5."],
  integer: ["whole number", (text) => /^-?(0|[1-9]\d*)$/.test(text), "Write a whole number, such as 1250."],
  decimal: ["decimal number", (text) => /^-?\d+(\.\d+)?$/.test(text), "Write a decimal number, such as 1250.50."],
  date: ["date", isDate, "Write a date as 2024-12-31."],
  "date-time": ["date and time", (text) => isDate(text.slice(0, 10)) && text[10] === "T" && isTime(text.slice(11)), "Write a date and a time as 2024-12-31T17:30:00."],
  time: ["time", isTime, "Write a time as 17:30:00."],
};

// A day that the calendar does not have is another one, when it is read.
function isDate(text) {
  const day = /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00Z`) : NaN;
  return !isNaN(day) && day.toISOString().startsWith(text);
}

function isTime(text) {
  return /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$/.test(text);
}

// The JSON text of what was written, or null if it is not of its kind.
function read(kind, text) {
  if (kind === "text") return JSON.stringify(text);
  const bare = text.trim();
  if (!KINDS[kind][1](bare)) return null;
  return ["number", "integer"].includes(kind) ? bare : JSON.stringify(bare);
}

function edit() {
  if (active === null) return;
  const value = documents[at].values[active];
  const type = data.types[value.type];
  if (!type.kinds.length && value.list && canGrow(value.list)) return addItem(value.list);
  if (!canBeWritten(type)) return;
  editing = true;
  drawValues();
  itemOf(active).querySelector(".edit :is(textarea, select):not([hidden], :disabled)").focus();
  bringIntoSight();
}

// What is selected of the document, and from where to where, without the white space around it.
function selected() {
  const selection = getSelection();
  const range = selection.rangeCount ? selection.getRangeAt(0) : null;
  if (!range || !byId("text").contains(range.commonAncestorContainer)) return null;
  const before = document.createRange();
  before.setStart(byId("text"), 0);
  before.setEnd(range.startContainer, range.startOffset);
  const [whole, text] = [range.toString(), range.toString().trim()];
  const start = before.toString().length + whole.indexOf(text);
  return text ? { text, start, end: start + text.length } : null;
}

// What the statements inside of some selected words mean, as values of a kind.
function readingsOf(words, kind) {
  if (kind === "text") return [words.text];
  const stated = documents[at].stated[["integer", "decimal"].includes(kind) ? "number" : kind] ?? [];
  const inside = stated.filter(([start, end]) => words.start <= start && end <= words.end).flatMap(([, , readings]) => readings);
  const readings = kind === "integer" ? inside.map((reading) => reading.replace(/\.0+$/, "")) : inside;
  return [...new Set(readings)].filter((reading) => read(kind, reading) !== null);
}

// The kind of a value: that which reads it as it is. What is missing is of the first.
const kindFor = (type, json) => type.kinds.find((kind) => json !== null && read(kind, shownJson(json)) === json) ?? type.kinds[0];

function editor(number) {
  const value = documents[at].values[number];
  const type = data.types[value.type];
  const json = currentJson(value);
  const words = selected();
  const what = `Correct value of ${value.path || "the answer"}`;
  const choice = element("select", { ariaLabel: type.kinds.length ? "Kind of value" : what });
  if (!type.kinds.length) choice.append(element("option", { value: "", hidden: true }, "Choose"));
  for (const kind of type.kinds) choice.append(element("option", { value: kind }, KINDS[kind][0]));
  for (const each of type.choices) choice.append(element("option", { value: each }, nameOfJson(each)));
  const isOpen = type.kinds.length > 0 && (words !== null || kindOf(json) === "null");
  const chosen = type.choices.find((each) => (words && shownJson(each) === words.text) || (each === json && !isOpen));
  choice.value = chosen ?? kindFor(type, json) ?? "";
  choice.hidden = type.kinds.length === 1 && !type.choices.length;
  const text = element("textarea", { rows: 1, value: chosen || kindOf(json) === "null" ? "" : shownJson(json), spellcheck: false, ariaLabel: what });
  const readings = element("div", { className: "readings", hidden: true });
  const problem = element("p", { role: "alert", hidden: true });
  const keep = element("button", { type: "submit", className: "main" }, "Save");
  const leave = element("button", { type: "button", className: "quiet" }, "Cancel");
  const made = element("form", { className: "edit", noValidate: true }, text, choice, readings, problem, element("div", {}, keep, leave));
  const offer = () => {
    text.hidden = !(choice.value in KINDS);
    made.classList.toggle("alone", text.hidden || choice.hidden);
    const meant = words && !text.hidden ? readingsOf(words, choice.value) : [];
    if (words && !text.hidden) text.value = meant.length === 1 ? meant[0] : words.text;
    readings.hidden = meant.length < 2;
    readings.replaceChildren("It can mean", ...meant.slice(0, 6).map((reading) => {
      const button = element("button", { type: "button", className: "quiet" }, reading);
      button.onclick = () => {
        text.value = reading;
        text.focus();
      };
      return button;
    }));
  };
  choice.onchange = offer;
  offer();
  leave.onclick = () => {
    editing = false;
    const list = listsOf(documents[at].data).find((one) => one.items.includes(value));
    if (value.added && !value.decision && list) return removeItem(list, value);
    drawValues();
    choose(number, true);
  };
  made.onsubmit = (event) => {
    event.preventDefault();
    const written = choice.value in KINDS ? read(choice.value, text.value) : choice.value || null;
    problem.hidden = written !== null;
    if (written !== null) decide(written === value.json && !value.added ? ["accepted"] : ["corrected", written]);
    else problem.textContent = KINDS[choice.value]?.[2] ?? "Choose a value.";
  };
  made.onkeydown = (event) => {
    if (event.key === "Escape") leave.click();
    else if (event.key === "Enter" && !event.shiftKey && [text, choice].includes(event.target)) made.requestSubmit();
    else return;
    event.preventDefault();
  };
  text.onfocus = () => text.select();
  return made;
}

function addItem(list) {
  const [first] = leavesOf(addTo(documents[at], list));
  active = documents[at].values.indexOf(first);
  editing = false;
  drawText();
  changed();
  say(`${list.path}[${list.items.length - 1}] added`);
  edit();
}

// Remove an item: what was added goes, and what the model wrote is rejected.
function removeItem(list, item) {
  const place = list.items.indexOf(item);
  if (place < list.given) for (const value of leavesOf(item)) value.decision = ["rejected"];
  else takeFrom(documents[at], list, item);
  const near = leavesOf(list.items[Math.min(place, list.items.length - 1)] ?? list.empty)[0];
  active = documents[at].values.indexOf(near);
  editing = false;
  drawText();
  changed();
  itemOf(active)?.querySelector(".pick").focus({ preventScroll: true });
  say(`${list.path}[${place}] removed`);
}

// Add an item to the innermost list that the active value is in.
function addHere() {
  if (active === null) return;
  const value = documents[at].values[active];
  const list = listsOf(documents[at].data).findLast((one) => leavesOf(one).includes(value));
  if (list && canGrow(list)) addItem(list);
}
