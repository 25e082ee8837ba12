// `node test/check-rules.mjs [folder]`: checks the references to our rules
// (packages/contracts/RULES.md). Each rule must be defined once, each reference must name a defined
// rule, and each rule must appear in the title of at least one test.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles } from "./list-files.mjs";

const rulesPath = "packages/contracts/RULES.md";
const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url));

const definitionPattern = /^- \*\*([A-Z]+-\d+)\*\* /gm;
// A reference may continue on the comment's next line.
const gapPattern = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|\/\/|#|--)?[ \t]*)`;
const idPattern = "[A-Z]{2,}-[0-9]+";
const referencePattern = new RegExp(
  `\\b[Rr]ules?${gapPattern}${idPattern}(?:(?:,|${gapPattern}and|${gapPattern}to)${gapPattern}${idPattern})*`,
  "g",
);

/** Matches references to documents that are not in the repository. */
const missingDocumentPattern = new RegExp(
  [
    String.raw`\b(?:interfaces?|specs?|specification|design|style)${gapPattern}(?:§|part \d)`,
    String.raw`\b(?:interfaces|spec|design|style)\.md\b`,
    String.raw`\bhandbook\b`,
    String.raw`\(spec\)`,
    String.raw`\(?\bdesign,?${gapPattern}(?:"|invariant)`,
    String.raw`\bthe (?:design|interfaces) (?:says?|names?|asks?|wants?)\b`,
    String.raw`(?<!kafkajs )\bissue #?\d+`,
  ].join("|"),
  "gi",
);

/** These files contain the forbidden references themselves. */
const skippedFiles = new Set(["check-rules.mjs", "check-rules.test.ts"]);
const textFilePattern =
  /(?:\.(?:ts|mjs|js|md|sql|ya?ml|tpl|css|sol|conf|txt)|\/(?:Dockerfile|run))$/;

/** Matches the test files that `npm test` runs. It excludes soak tests. */
const testFilePattern = /(?<!\.soak)\.test\.ts$|\.contract\.ts$/;
const commentPattern = /^[ \t]*(?:\/\/.*|\/\*[^]*?\*\/)/gm;
const stringPattern = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/.source;
const stringLiteralPattern = new RegExp(stringPattern, "g");
/** Matches a test's title and the preceding `each` table, whose rows also contain titles. */
const testTitlePattern = new RegExp(
  String.raw`^[ \t]*(?:test|describe)(?:\.each\b([^]*?)\))?\(\s*(${stringPattern})`,
  "gm",
);
const ruleListPattern = new RegExp(
  String.raw`\(rules? ${idPattern}(?:(?:,| and) ${idPattern})*\)`,
  "g",
);

/** @type {(text: string) => string[]} */
const listRulesInTitles = (text) =>
  [...text.replace(commentPattern, "").matchAll(testTitlePattern)]
    .flatMap(([, table = "", title = ""]) => [title, ...(table.match(stringLiteralPattern) ?? [])])
    .flatMap((matchedText) => matchedText.match(ruleListPattern) ?? [])
    .flatMap((matchedText) => matchedText.match(new RegExp(idPattern, "g")) ?? []);

/** @type {string[]} */
const problems = [];
/** @type {Set<string>} */
const definedRules = new Set();
for (const [, id = ""] of readFileSync(join(root, rulesPath), "utf8").matchAll(definitionPattern)) {
  if (definedRules.has(id)) problems.push(`${rulesPath}: rule ${id} is defined twice`);
  definedRules.add(id);
}
const idPrefixes = [...new Set([...definedRules].map((id) => id.replace(/-.*/, "")))].join("|");
const bareIdPattern = new RegExp(`\\b(?:${idPrefixes})-[0-9]+\\b`, "g");

/** @type {Set<string>} */
const testedRules = new Set();
let referenceCount = 0;
for (const file of listFiles(root, textFilePattern)) {
  if (skippedFiles.has(basename(file))) continue;
  const text = readFileSync(join(root, file), "utf8");
  const addProblem = (/** @type {number} */ index, /** @type {string} */ message) =>
    problems.push(`${file}:${text.slice(0, index).split("\n").length}: ${message}`);
  if (testFilePattern.test(file)) for (const id of listRulesInTitles(text)) testedRules.add(id);
  const referenceOffsets = new Set();
  for (const { 0: matchedText, index: start } of text.matchAll(referencePattern)) {
    for (const { 0: id, index } of matchedText.matchAll(new RegExp(idPattern, "g"))) {
      referenceOffsets.add(start + index);
      referenceCount += 1;
      if (!definedRules.has(id)) addProblem(start + index, `there is no rule ${id}`);
    }
  }
  for (const { 0: id, index } of text.matchAll(bareIdPattern)) {
    const isAllowed = referenceOffsets.has(index) || file === rulesPath;
    if (!isAllowed) addProblem(index, `write "rule ${id}" instead of "${id}"`);
  }
  for (const { 0: matchedText, index } of text.matchAll(missingDocumentPattern)) {
    addProblem(
      index,
      `"${matchedText.replace(/\s+[*/#-]*\s*/g, " ")}" refers to a document outside the repository`,
    );
  }
}

for (const id of definedRules) {
  if (!testedRules.has(id)) problems.push(`${rulesPath}: no test title names rule ${id}`);
}

for (const problem of problems) process.stdout.write(`${problem}\n`);
const summary = [
  `${definedRules.size} rules`,
  `${referenceCount} references`,
  `${problems.length} problems`,
];
process.stdout.write(`${summary.join(", ")}\n`);
process.exit(problems.length === 0 ? 0 : 1);
