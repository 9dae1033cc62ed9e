// The document, with its values marked.

function drawText() {
  const one = documents[at];
  const starts = new Set(blocks(one.text));
  const drawn = [];
  for (const { start, text, numbers } of pieces(one, starts)) {
    if (starts.has(start)) drawn.push(element("div", {}));
    drawn.at(-1).append(numbers.length ? marked(one, text, numbers) : text);
  }
  byId("text").replaceChildren(...(one.text ? drawn : [element("p", { className: "empty" }, one.error || "This document is empty.")]));
  drawPages();
  markActive();
  markFound();
}

function marked(one, text, numbers) {
  const innermost = one.values[numbers[0]];
  const made = element("mark", { className: `${innermost.band} ${innermost.match}`, title: numbers.map((n) => one.values[n].path).join(", ") }, text);
  made.dataset.values = numbers.join(" ");
  made.classList.toggle("faint", !numbers.some((n) => passes(one.values[n])));
  return made;
}

const marksOf = (number) => byId("text").querySelectorAll(`mark[data-values~="${number}"]`);

function markActive() {
  for (const mark of byId("reading").querySelectorAll(":is(mark, .box).active")) mark.classList.remove("active");
  if (active !== null) for (const mark of [...marksOf(active), ...boxesOf(active)]) mark.classList.add("active");
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
