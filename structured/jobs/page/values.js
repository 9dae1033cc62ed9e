// The values: what they are, what supports them, and what the reviewer says.

const ACTS = {
  accepted: ["Accept", "M3 8.5 6.5 12 13 4.5"],
  corrected: ["Correct", "M3 13h2.5L13 5.5 10.5 3 3 10.5z M9 4.5 11.5 7"],
  rejected: ["Reject", "M4 4l8 8 M12 4l-8 8"],
};

function valueItem(number) {
  const value = documents[at].values[number];
  const [decision, corrected] = value.decision ?? [];
  const json = currentJson(value);
  const name = value.added && json === null ? "still to write" : nameOfJson(json);
  const pick = element(
    "button",
    { type: "button", className: "pick" },
    element("small", {}, value.path || "answer"),
    element("bdi", { className: name === shownJson(json) ? "" : "none" }, name),
  );
  if (corrected !== undefined && !value.added) pick.append(element("del", {}, nameOfJson(value.json)));
  const acts = element("div", { className: "acts", role: "group", ariaLabel: `Decide on ${value.path || "the answer"}` });
  for (const [kind, [verb, shape]] of Object.entries(ACTS)) {
    if (kind === "corrected" && !canBeWritten(data.types[value.type])) continue;
    const button = element("button", { type: "button", className: kind, ariaLabel: verb, ariaPressed: String(decision === kind), title: `${verb} (${verb[0].toLowerCase()})` }, icon(shape));
    button.onclick = () => {
      choose(number);
      if (kind === "corrected") edit();
      else decide(decision === kind ? null : [kind]);
    };
    acts.append(button);
  }
  const item = element("li", { className: `value ${decision ?? ""}` }, pick, acts, trustOf(value));
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

// The rows of a part of the document: those of its values, and for a list how to add an item and to remove one.
function rowsOf(node, numbers) {
  if (isLeaf(node)) return numbers.has(node) ? [valueItem(numbers.get(node))] : [];
  if (node.members) return node.members.flatMap(([, inside]) => rowsOf(inside, numbers));
  const rows = node.items.flatMap((item) => {
    const inside = rowsOf(item, numbers);
    return inside.length && !isLeaf(item) ? [itemRow(node, item), ...inside] : inside;
  });
  if (!node.items.length) rows.push(...rowsOf(node.empty, numbers));
  if (canGrow(node) && rows.length) rows.push(addRow(node));
  return rows;
}

function itemRow(list, item) {
  const path = `${list.path}[${list.items.indexOf(item)}]`;
  const button = element("button", { type: "button", className: "quiet", ariaLabel: `Remove ${path}` }, "Remove");
  button.disabled = leavesOf(item).every(isRejected);
  button.onclick = () => removeItem(list, item);
  return element("li", { className: "of-list" }, element("small", {}, path), button);
}

function addRow(list) {
  const name = list.path || "the answer";
  const button = element("button", { type: "button", className: "quiet", title: "Add an item to the list (n)" }, `Add to ${name}`);
  button.onclick = () => addItem(list);
  return element("li", { className: "of-list" }, button);
}

function drawValues() {
  const one = documents[at];
  const numbers = new Map(numbersShown().map((number) => [one.values[number], number]));
  const rest = one.values.length - numbers.size;
  byId("values").replaceChildren(...rowsOf(one.data, numbers));
  byId("values").prepend(...one.flags.map((flag) => element("li", { className: "of-list bad" }, `⚑ ${flag}`)));
  if (rest) byId("values").append(element("li", { className: "of-list" }, `${plural(rest, "more value")} ${rest === 1 ? "does" : "do"} not pass the filters.`));
  byId("accept-rest").disabled = [...numbers.keys()].every((value) => value.decision);
}

const itemOf = (number) => byId("values").querySelector(`[data-value="${number}"]`);

function drawCounts() {
  const [values, done] = [documents.reduce((sum, one) => sum + one.values.length, 0), documents.reduce((sum, one) => sum + doneIn(one), 0)];
  const reviewed = documents.filter((one) => one.values.some((value) => value.decision)).length;
  byId("progress").textContent = `${done.toLocaleString("en")} of ${plural(values, "value")} reviewed`;
  byId("export").textContent = reviewed ? `Export (${reviewed.toLocaleString("en")})` : "Export";
  byId("export").ariaLabel = `Export ${plural(reviewed, "reviewed document")}`;
  byId("export").disabled = !reviewed;
  byId("kept").textContent = kept
    ? "Decisions are kept in this browser. Export them to use them elsewhere."
    : "This browser keeps no decisions: export them before you close the page.";
  if (at in documents) {
    byId("document-name").replaceChildren(
      documents[at].name || `Document ${at + 1}`,
      element("small", {}, `${documents[at].name ? `document ${at + 1}, ` : ""}${doneIn(documents[at])} of ${documents[at].values.length.toLocaleString("en")} reviewed`),
    );
  }
}
