const data = JSON.parse(document.getElementById("data").textContent);
const documents = data.documents;

// A document is a tree. Its leaves are values, of which each has a decision when it is reviewed: [kind] or
// ["corrected", JSON text]. A list has its `empty` as its only leaf while it has no items; those after the
// `given` ones were added.

const isLeaf = (node) => "json" in node;

function leavesOf(node) {
  if (isLeaf(node)) return [node];
  if (node.members) return node.members.flatMap(([, inside]) => leavesOf(inside));
  return node.items.length ? node.items.flatMap(leavesOf) : [node.empty];
}

// Return the tree of a document with its values in the place of their numbers.
function grown(node, values) {
  if (typeof node === "number") return values[node];
  if (node.members) return { members: node.members.map(([name, inside]) => [name, grown(inside, values)]) };
  const list = { ...node, items: node.items.map((item) => grown(item, values)), given: node.items.length };
  if (list.empty !== null) (list.empty = values[list.empty]).list = list;
  return list;
}

const currentJson = (value) => (value.decision?.[0] === "corrected" ? value.decision[1] : value.json);
const kindOf = (json) => (json === null || json === "null" ? "null" : typeof JSON.parse(json));
const shownJson = (json) => (json === null ? "" : kindOf(json) === "string" ? JSON.parse(json) : json);
const NAMES = { null: "nothing", '""': "empty text", "[]": "empty list", "{}": "empty object" };
const nameOfJson = (json) => NAMES[json] ?? shownJson(json);
// Texts are compared, so that each has one spelling: `"\u00e9"` and `"é"` are the same.
const ownSpelling = (json) => (json?.startsWith('"') ? JSON.stringify(JSON.parse(json)) : json);
const isRejected = (value) => value.decision?.[0] === "rejected";
const doneIn = (one) => one.values.filter((value) => value.decision).length;

// Items that are added: their values are there from the start, and are left out of the export until they are written.

const ADDED = { span: null, words: "added here", match: "absent", confidence: null, band: "unknown", added: true };

const canBeWritten = (type) => type.kinds.length + type.choices.length > 0;
const canBeBuilt = (type) => canBeWritten(type) || type.members !== undefined || type.items !== undefined;

function numberOfField(name) {
  if (!data.fields.includes(name)) data.fields.push(name);
  return data.fields.indexOf(name);
}

function built(number, path, field) {
  const type = data.types[number];
  const leaf = (json) => ({ ...ADDED, path, field: numberOfField(field), type: number, json });
  if (canBeWritten(type)) return leaf(type.choices.length === 1 && !type.kinds.length ? type.choices[0] : null);
  if (type.members?.length) {
    const members = type.members.filter(([, , inside]) => canBeBuilt(data.types[inside]));
    return { members: members.map(([name, step, inside]) => [name, built(inside, path + step, field + step)]) };
  }
  if (type.members) return leaf("{}");
  const list = { items: [], given: 0, path, field, type: type.items ?? null, empty: leaf("[]") };
  list.empty.list = list;
  return list;
}

const canGrow = (list) => list.type !== null && canBeBuilt(data.types[list.type]);

function addTo(one, list) {
  const item = built(list.type, `${list.path}[${list.items.length}]`, `${list.field}[]`);
  list.items.push(item);
  one.hasGrown = true;
  one.values = leavesOf(one.data);
  return item;
}

// Take an item that was added out of its list: those after it move up.
function takeFrom(one, list, item) {
  const place = list.items.indexOf(item);
  list.items.splice(place, 1);
  list.items.slice(place).forEach((later, index) => {
    const [from, to] = [place + index + 1, place + index].map((number) => `${list.path}[${number}]`);
    rename(later, (path) => to + path.slice(from.length));
  });
  one.values = leavesOf(one.data);
}

function rename(node, renamed) {
  if (node.path !== undefined) node.path = renamed(node.path);
  if (node.empty) node.empty.path = node.path;
  for (const inside of node.items ?? node.members?.map(([, member]) => member) ?? []) rename(inside, renamed);
}

function listsOf(node) {
  if (isLeaf(node)) return [];
  if (node.members) return node.members.flatMap(([, inside]) => listsOf(inside));
  return [node, ...node.items.flatMap(listsOf)];
}

// What is kept in the browser, for each document: the lists that items were added to, and the decisions by their paths.

const KEY = `structured review ${data.digest}`;
let kept = true;

function load() {
  for (const type of data.types) type.choices = type.choices.map(ownSpelling);
  for (const one of documents) {
    for (const value of one.values) value.json = ownSpelling(value.json);
    one.data = grown(one.data, one.values);
    one.values = leavesOf(one.data);
  }
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    for (const [place, { added, decisions }] of Object.entries(stored)) {
      const one = documents[place];
      for (const path of added) addTo(one, listsOf(one.data).find((list) => list.path === path));
      for (const value of one.values) if (Object.hasOwn(decisions, value.path)) value.decision = decisions[value.path];
    }
  } catch {
    kept = false;
  }
}

function save() {
  const stored = {};
  documents.forEach((one, place) => {
    const decided = one.values.filter((value) => value.decision);
    if (!decided.length && !one.hasGrown) return;
    const added = listsOf(one.data).flatMap((list) => list.items.slice(list.given).map(() => list.path));
    stored[place] = { added, decisions: Object.fromEntries(decided.map((value) => [value.path, value.decision])) };
  });
  try {
    localStorage.setItem(KEY, JSON.stringify(stored));
  } catch {
    kept = false;
  }
}
