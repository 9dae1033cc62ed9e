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
