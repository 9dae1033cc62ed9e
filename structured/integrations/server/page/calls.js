// Calls: the request that the page sends, and the same in Python, for curl and for the command line.

// The body of a request as JSON text. A schema goes as it was written, with every digit of its numbers.
function bodyOf(text, type) {
  const typed = isSchema(type) ? `"schema": ${type.trim()}` : `"fields": ${JSON.stringify(type)}`;
  return `{${typed}, "text": ${JSON.stringify(text)}, "evidence": true}`;
}

// No list of fields starts with a brace.
const isSchema = (type) => type.trimStart().startsWith("{");

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

// JSON as Python writes it, numbers as they are written.
function toPython(value, indent = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof WrittenNumber) return value.source;
  const inner = `${indent}    `;
  const parts = Array.isArray(value)
    ? value.map((one) => toPython(one, inner))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${toPython(one, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return parts.length ? `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${indent}${close}` : open + close;
}

const CALLS = {
  Python: (address, text, type, withKey) =>
    [
      `import json${withKey ? "\nimport os" : ""}\nfrom urllib.request import Request, urlopen\n`,
      `body = ${toPython(exactJson(bodyOf(text, type)))}`,
      `headers = {"Content-Type": "application/json"${withKey ? `, "Authorization": f"Bearer {os.environ['STRUCTURED_API_KEY']}"` : ""}}`,
      `request = Request(${JSON.stringify(address.href)}, json.dumps(body).encode(), headers)`,
      `with urlopen(request) as answer:\n    print(json.load(answer))\n`,
    ].join("\n"),
  curl: (address, text, type, withKey) =>
    [
      `curl ${quoted(address.href)}`,
      `-H 'Content-Type: application/json'`,
      ...(withKey ? [`-H "Authorization: Bearer $STRUCTURED_API_KEY"`] : []),
      `-d ${quoted(bodyOf(text, type))}\n`,
    ].join(" \\\n    "),
  "command line": (address, text, type) => {
    const scheme = address.protocol === "https:" ? "structured+https" : "structured";
    const model = `--model ${quoted(`${scheme}://${address.host}`)} --evidence`;
    const asked = `printf %s ${quoted(text)} |\n    structured extract`;
    if (!isSchema(type)) return `${asked} --fields ${quoted(type)} ${model} -\n`;
    return `cat > schema.json <<'END'\n${type.trim()}\nEND\n${asked} schema.json ${model} -\n`;
  },
};
