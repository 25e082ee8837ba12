// Holds the references to our own rules (packages/contracts/RULES.md) against that page: each rule is
// defined once, and each reference names one that is there. The title of at least one test names each
// rule. `node test/check-rules.mjs [folder]`.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const page = "packages/contracts/RULES.md";
const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url));

const definition = /^- \*\*([A-Z]+-\d+)\*\* /gm;
// A reference may go on in the comment's next line.
const gap = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|\/\/|#|--)?[ \t]*)`;
const idForm = "[A-Z]{2,}-[0-9]+";
const reference = new RegExp(
  `\\b[Rr]ules?${gap}${idForm}(?:(?:,|${gap}and|${gap}to)${gap}${idForm})*`,
  "g",
);

/** What would send a reader to a document that is not in the repository. */
const absent = new RegExp(
  [
    String.raw`\b(?:interfaces?|specs?|specification|design|style)${gap}(?:§|part \d)`,
    String.raw`\b(?:interfaces|spec|design|style)\.md\b`,
    String.raw`\bhandbook\b`,
    String.raw`\(spec\)`,
    String.raw`\(?\bdesign,?${gap}(?:"|invariant)`,
    String.raw`\bthe (?:design|interfaces) (?:says?|names?|asks?|wants?)\b`,
    String.raw`(?<!kafkajs )\bissue #?\d+`,
  ].join("|"),
  "gi",
);

const skippedFolders = new Set("node_modules .git .turbo .data dist coverage schemas".split(" "));
/** They spell out what is refused. */
const skippedFiles = new Set(["check-rules.mjs", "check-rules.test.ts"]);
const textFile = /(?:\.(?:ts|mjs|js|md|sql|ya?ml|tpl|css|sol|conf|txt)|\/(?:Dockerfile|run))$/;

/** The test files that `npm test` runs. Soak tests do not count, because it leaves them out. */
const testFile = /(?<!\.soak)\.test\.ts$|\.contract\.ts$/;
const commentLine = /^[ \t]*(?:\/\/.*|\/\*[^]*?\*\/)/gm;
const stringForm = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/.source;
const stringLiteral = new RegExp(stringForm, "g");
/** A title, and before it the table of `each`, whose rows have titles too. */
const testTitle = new RegExp(
  String.raw`^[ \t]*(?:test|describe)(?:\.each\b([^]*?)\))?\(\s*(${stringForm})`,
  "gm",
);
const namedRules = new RegExp(String.raw`\(rules? ${idForm}(?:(?:,| and) ${idForm})*\)`, "g");

/** @type {(text: string) => string[]} */
const listNamedRules = (text) =>
  [...text.replace(commentLine, "").matchAll(testTitle)]
    .flatMap(([, table = "", title = ""]) => [title, ...(table.match(stringLiteral) ?? [])])
    .flatMap((words) => words.match(namedRules) ?? [])
    .flatMap((words) => words.match(new RegExp(idForm, "g")) ?? []);

/** @type {(folder: string) => string[]} */
const listFiles = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : listFiles(path);
    return textFile.test(`/${path}`) && !skippedFiles.has(entry.name) ? [path] : [];
  });

/** @type {string[]} */
const faults = [];
/** @type {Set<string>} */
const rules = new Set();
for (const [, id = ""] of readFileSync(join(root, page), "utf8").matchAll(definition)) {
  if (rules.has(id)) faults.push(`${page}: rule ${id} is defined twice`);
  rules.add(id);
}
const groups = [...new Set([...rules].map((id) => id.replace(/-.*/, "")))].join("|");
const mention = new RegExp(`\\b(?:${groups})-[0-9]+\\b`, "g");

/** @type {Set<string>} */
const tested = new Set();
let referenceCount = 0;
for (const file of listFiles("")) {
  const text = readFileSync(join(root, file), "utf8");
  const fault = (/** @type {number} */ index, /** @type {string} */ what) =>
    faults.push(`${file}:${text.slice(0, index).split("\n").length}: ${what}`);
  if (testFile.test(file)) for (const id of listNamedRules(text)) tested.add(id);
  const referred = new Set();
  for (const { 0: words, index: start } of text.matchAll(reference)) {
    for (const { 0: id, index } of words.matchAll(new RegExp(idForm, "g"))) {
      referred.add(start + index);
      referenceCount += 1;
      if (!rules.has(id)) fault(start + index, `there is no rule ${id}`);
    }
  }
  for (const { 0: id, index } of text.matchAll(mention)) {
    const isHere = referred.has(index) || file === page;
    if (!isHere) fault(index, `write "rule ${id}", as everywhere`);
  }
  for (const { 0: words, index } of text.matchAll(absent)) {
    fault(index, `"${words.replace(/\s+[*/#-]*\s*/g, " ")}" points to a document that is not here`);
  }
}

for (const id of rules) {
  if (!tested.has(id)) faults.push(`${page}: the title of no test names rule ${id}`);
}

for (const fault of faults) process.stdout.write(`${fault}\n`);
const counts = [`${rules.size} rules`, `${referenceCount} references`, `${faults.length} faults`];
process.stdout.write(`${counts.join(", ")}\n`);
process.exit(faults.length === 0 ? 0 : 1);
