// The evidence of values: the pieces of a text that has them, and the line below each.

// A text is cut wherever a span starts or ends, since spans may overlap, and into blocks, since a browser
// lays out a paragraph as a whole: one of a million characters takes minutes.

const BLOCK = 4000;

// Where blocks start: behind the last line end that is near enough, or else the last space, or else anywhere.
function blocks(text) {
  const starts = [0];
  while (text.length - starts.at(-1) > BLOCK) {
    const from = starts.at(-1);
    const behind = (mark) => text.lastIndexOf(mark, from + BLOCK - 1) + 1;
    const next = [behind("\n"), behind(" "), from + BLOCK].find((place) => place > from);
    starts.push(/^[\udc00-\udfff]/.test(text[next]) ? next - 1 : next);
  }
  return starts;
}

function pieces(one, starts) {
  const spans = one.values.map((value, number) => ({ number, span: value.span })).filter(({ span }) => span && span[0] < span[1]);
  const cuts = [...new Set([...starts, one.text.length, ...spans.flatMap(({ span }) => span)])].sort((a, b) => a - b);
  const starting = Map.groupBy(spans, ({ span }) => span[0]);
  let covering = [];
  return cuts.slice(0, -1).map((start, index) => {
    covering = [...covering.filter(({ span }) => span[1] > start), ...(starting.get(start) ?? [])];
    covering.sort((a, b) => a.span[1] - a.span[0] - (b.span[1] - b.span[0]));
    return { start, text: one.text.slice(start, cuts[index + 1]), numbers: covering.map(({ number }) => number) };
  });
}

// How sure the model was of a value, and what supports it.
function trustOf(value) {
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
  for (const flag of value.flags ?? []) trust.append(element("span", { className: "lacking" }, `⚑ ${flag}`));
  return trust;
}
