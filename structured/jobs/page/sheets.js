// The pages of a scan or a PDF, with a box for each line of a value.

function drawPages() {
  const one = documents[at];
  const sheets = Object.entries(one.pages).map(([number, { uri, width, height }]) => {
    const sheet = element("div", { className: "sheet" }, element("img", { src: uri, alt: `Page ${number}` }));
    sheet.style.aspectRatio = `${width} / ${height}`;
    one.values.forEach((value, place) => {
      for (const [page, left, top, right, bottom] of value.boxes ?? []) {
        if (page !== Number(number)) continue;
        const box = element("span", { className: `box ${value.band}`, title: value.path });
        box.dataset.value = place;
        box.classList.toggle("faint", !passes(value));
        const places = { left: left / width, top: top / height, width: (right - left) / width, height: (bottom - top) / height };
        for (const [side, share] of Object.entries(places)) box.style[side] = `${100 * share}%`;
        box.onclick = () => passes(value) && choose(place);
        sheet.append(box);
      }
    });
    return sheet;
  });
  byId("sheets").hidden = !sheets.length;
  byId("sheets").replaceChildren(...sheets);
}

const boxesOf = (number) => byId("sheets").querySelectorAll(`.box[data-value="${number}"]`);
