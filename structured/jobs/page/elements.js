"use strict";
// Elements of a page, what it says aloud, and its colours.

const byId = (id) => document.getElementById(id);
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const percent = (share) => `${Math.floor(share * 100 + 1e-9)}%`;
const element = (tag, properties = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

function icon(shape) {
  const [picture, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("aria-hidden", "true");
  path.setAttribute("d", shape);
  picture.append(path);
  return picture;
}

function say(text) {
  byId("said").textContent = text;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.style.colorScheme || (dark.matches ? "dark" : "light")) === "dark";

function nameTheme() {
  byId("theme").textContent = isDark() ? "☀" : "☾";
  byId("theme").title = byId("theme").ariaLabel = isDark() ? "Use light colours" : "Use dark colours";
}

function startTheme() {
  byId("theme").onclick = () => {
    document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
    nameTheme();
  };
  dark.onchange = nameTheme;
  nameTheme();
}
