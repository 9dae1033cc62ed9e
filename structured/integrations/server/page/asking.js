// Asking: what is written is sent to the server, and its answer or its error is shown.

const KEY = "structured key";
const MAX_FILE = 10_000_000;
const ERRORS = ["document-error", "type-error", "error"];
const BOXES = { text: "document", fields: "type", schema: "type" };
// The boxes that errors are about which name no member of the request.
const ABOUT = { PromptError: "text", SchemaError: "schema", PatternError: "schema" };
const EXAMPLE = ["Invoice 4411 from Acme Tools: one drill. Total: 89.90 EUR. Due 2 May 2024.", "number: str, vendor: str, total: float, due: date | None, contact: str | None"];

const address = new URL("v1/extract", location.href);
let asked = null; // the AbortController of the call that runs

function showError(message, member) {
  const box = BOXES[member];
  const place = byId(box ? `${box}-error` : "error");
  const said = message.replace(new RegExp(`^${member}: `), "");
  const parts = (said.charAt(0).toUpperCase() + said.slice(1)).split("\n\n");
  place.replaceChildren(...parts.map((part) => element(part.startsWith("  ") ? "code" : "span", {}, part)));
  if (!box) return;
  byId(box).setAttribute("aria-invalid", "true");
  byId(box).focus();
}

function clearErrors() {
  for (const id of ERRORS) byId(id).textContent = "";
  for (const id of ["document", "type"]) byId(id).removeAttribute("aria-invalid");
}

function setRunning(isRunning) {
  byId("extract").textContent = isRunning ? "Stop" : "Extract";
  byId("judging").ariaBusy = String(isRunning);
}

// The text and the type as they are written; nothing if the schema is no JSON.
function written() {
  clearErrors();
  const [text, type] = [byId("document").value, byId("type").value];
  try {
    if (isSchema(type)) JSON.parse(type);
    return [text, type];
  } catch (error) {
    showError(`This is no JSON: ${error.message}`, "schema");
    return null;
  }
}

async function ask() {
  if (asked) return asked.abort();
  const said = written();
  if (!said) return;
  const [text, type] = said;
  const headers = { "Content-Type": "application/json" };
  const key = sessionStorage.getItem(KEY);
  if (key !== null) headers.Authorization = `Bearer ${key}`;
  const started = performance.now();
  asked = new AbortController();
  setRunning(true);
  say("Extracting");
  try {
    const response = await fetch(address, { method: "POST", headers, body: bodyOf(text, type), signal: asked.signal });
    const json = await response.text();
    if (response.status === 401) askForKey(key !== null);
    else if (response.ok) showAnswer(readAnswer(text, json), (performance.now() - started) / 1000);
    else refuse(response, json);
  } catch (error) {
    if (error.name === "AbortError") say("Stopped");
    else showError(`There is no answer from ${address.host}: ${error.message}`);
  } finally {
    asked = null;
    setRunning(false);
    if (byId("said").textContent === "Extracting") say("Not extracted");
  }
}

// Let nothing of an answer stand beside the error of another text.
function forget() {
  shown = { text: "", values: [] };
  for (const id of ["text", "values", "cost"]) byId(id).replaceChildren();
  byId("summary").hidden = true;
}

function refuse(response, json) {
  forget();
  let error = {};
  try {
    ({ error } = JSON.parse(json));
  } catch {
    // of a proxy, say
  }
  showError(error?.message ?? `The server answers with ${response.status} ${response.statusText}`, error?.param ?? ABOUT[error?.code]);
}

function showAnswer(answer, seconds) {
  shown = answer;
  drawAnswer();
  const { usage, confidence, missing } = answer;
  const took = `${seconds < 10 ? seconds.toFixed(2) : Math.round(seconds)} s`;
  const tokens = `${usage.prompt_tokens.toLocaleString("en")} + ${plural(usage.completion_tokens, "token")}`;
  byId("cost").textContent = `${took}, ${tokens}`;
  byId("cost").title = `${plural(usage.prompt_tokens, "token")} of the prompt, ${usage.completion_tokens} of the answer`;
  const sure = confidence === null ? [] : ["Confidence ", element("b", { className: bandOf(confidence) }, percent(confidence)), ", "];
  const stated = answer.values.length - missing;
  const parts = [...sure, plural(stated, "value"), missing ? `, ${missing} missing` : "", "."];
  if (answer.shortened) parts.push(" The answer was shortened, and may be incomplete.");
  if (answer.repetitive) parts.push(" A repetition was ended.");
  byId("summary").replaceChildren(...parts);
  byId("summary").hidden = false;
  say(`${byId("summary").textContent} ${took}, ${tokens}`);
}

function askForKey(wasRefused) {
  byId("key-error").textContent = wasRefused ? "The server does not take this key." : "";
  byId("key").value = "";
  byId("ask-key").showModal();
}

function useKey(event) {
  const key = byId("key").value;
  if (/^[\x21-\x7e\xa0-\xff]+$/.test(key)) {
    sessionStorage.setItem(KEY, key);
    setTimeout(ask); // once the dialog is closed
  } else {
    event.preventDefault();
    byId("key-error").textContent = key ? "A key has no spaces, and no letters beyond Latin-1." : "Write the key.";
  }
}

async function readFiles(files) {
  clearErrors();
  const [file] = files;
  if (files.length !== 1) return showError("Open one file at a time.", "text");
  if (file.size > MAX_FILE) return showError(`The file ${file.name} has more than ${MAX_FILE.toLocaleString("en")} bytes.`, "text");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (text.includes("\0")) throw new TypeError("NUL");
    byId("document").value = text;
    byId("document").focus();
    say(`${file.name} is read`);
  } catch {
    showError(`The file ${file.name} is no text in UTF-8. Paste its text.`, "text");
  }
}

async function copyCall(kind) {
  const said = written();
  if (!said) return;
  const call = byId("call");
  call.value = CALLS[kind](address, ...said, sessionStorage.getItem(KEY) !== null);
  call.hidden = false;
  try {
    await navigator.clipboard.writeText(call.value);
  } catch {
    call.select(); // the clipboard is there for pages from https and this machine alone
    if (!document.execCommand("copy")) return say("Copy the selected call");
  }
  say(`Copied as ${kind}`);
}

function start() {
  startTheme();
  byId("asking").onsubmit = (event) => {
    event.preventDefault();
    ask();
  };
  document.onkeydown = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || byId("ask-key").open) return;
    event.preventDefault();
    if (!asked) ask();
  };
  byId("values").onkeydown = onValueKey;
  byId("example").onclick = () => {
    clearErrors();
    [byId("document").value, byId("type").value] = EXAMPLE;
    say("An example is written");
  };
  byId("open-file").onclick = () => byId("file").click();
  byId("file").onchange = () => {
    readFiles(byId("file").files);
    byId("file").value = "";
  };
  byId("no-key").onclick = () => byId("ask-key").close();
  byId("ask-key").querySelector("form").onsubmit = useKey;
  for (const button of document.querySelectorAll("[data-call]")) button.onclick = () => copyCall(button.dataset.call);
  document.ondragover = (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  };
  document.ondragleave = (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  };
  document.ondrop = (event) => {
    document.body.classList.remove("dropping");
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    readFiles([...event.dataTransfer.files]);
  };
}

start();
