// The export: data with corrections and what was added, and without what was rejected.

function write(node) {
  if (isLeaf(node)) return isRejected(node) ? null : currentJson(node);
  if (node.members) {
    const members = node.members.map(([name, inside]) => [name, write(inside)]).filter(([, text]) => text !== null);
    return `{${members.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(", ")}}`;
  }
  if (!node.items.length) return write(node.empty);
  return `[${node.items.filter((item, place) => (place < node.given ? !isEmptied(item) : isWritten(item))).map(write).join(", ")}]`;
}

// Whether nothing is left of an item because of what was rejected in it.
const isEmptied = (item) => leavesOf(item).some(isRejected) && [null, "{}", "[]"].includes(write(item));

// Whether anything was written in an item that was added.
const isWritten = (item) => leavesOf(item).some((value) => value.decision?.[0] === "corrected");

const reviewOf = (value) => (value.added && value.decision[0] === "corrected" ? "added" : value.decision[0]);

function gold() {
  const lines = [];
  for (const one of documents) {
    const decided = one.values.filter((value) => value.decision);
    if (!decided.length) continue;
    const reviewed = Object.fromEntries(decided.map((value) => [value.path, reviewOf(value)]));
    const [id, text, told] = [one.id, one.text, reviewed].map((part) => JSON.stringify(part));
    lines.push(`{"id": ${id}, "document": ${text}, "value": ${write(one.data) ?? "null"}, "reviewed": ${told}}\n`);
  }
  return lines.join("");
}

function exportGold() {
  const address = URL.createObjectURL(new Blob([gold()], { type: "application/jsonl" }));
  element("a", { href: address, download: "gold.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
