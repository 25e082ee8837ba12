// `node test/check-words.mjs [folder]`: rejects private jargon in identifiers, prose (comments,
// quoted strings with a space, Markdown) and page texts. Anyone who knows the field must be able to
// read every file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles } from "./list-files.mjs";

const root = process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url));

const identifierWords =
  "tell tells told untold hear hears heard unheard anew afresh deed deeds heed heeds lapse lapsed owed foresee foreseen nobody somebody stranger strangers whoever";
const proseWords = [
  "afresh|alike|anew|deeds?|foresees?|heard|heeds?|hears|lapse[ds]?|nobody|owed|refusals?|shall",
  "somebody|strangers?|tells|thus|told|unheard|untold|upon|whence|whoever|whom",
  "as it stands|as they come|at once|by now|for ever|in vain|of which|once more|set aside",
  "so that nobody|taken away|taken back|tell us|that which|the house|where there is none",
];
const pageWords = [...proseWords, "besides", "does not count", "is read again", "by hand"];

/**
 * The only uses that stay, at most 20: a wire name or a term of the field.
 *
 * @type {readonly { file: string, word: string, reason: string }[]}
 */
const exceptions = [
  {
    file: "services/settlement-listener/src/watch/audit/background-jobs.ts",
    word: "foresee",
    reason: "value of the metric label `duty`",
  },
  { file: "test/alerts/causes.test.ts", word: "unheard", reason: "name of an alert" },
  {
    file: "services/links-api/src/http/describe-console-api.ts",
    word: "whoever",
    reason: "`contact.name` of the published document",
  },
  {
    file: "services/links-api/src/http/describe-public-api.ts",
    word: "whoever",
    reason: "`contact.name` of the published document",
  },
];
const exceptionsMax = 20;
/** These files contain the words themselves. */
const skippedFiles = new Set(["test/check-words.mjs", "test/check-words.test.ts"]);

/** @type {(words: readonly string[]) => RegExp} */
const createPattern = (words) =>
  new RegExp(String.raw`(?<![\w\`$-])(?:${words.join("|")})(?![\w-])`, "gi");

const prosePattern = createPattern(proseWords);
const pagePattern = createPattern(pageWords);
const forbiddenIdentifierParts = new Set(identifierWords.split(" "));

const codeFilePattern = /\.(?:ts|tsx|mjs|js|css|sol)$/;
const configFilePattern = /\.(?:ya?ml|tpl|conf)$/;
const pageTextFilePattern =
  /(?:\/texts|\/languages\/[a-z-]+|-texts(?:-[a-z]+)?|api-error-messages)\.ts$/;
const commentPattern = /^[ \t]*\/\/.*|^[ \t]*\/\*[^]*?\*\/|(?<=\s)\/\/ .*/gm;
const configCommentPattern = /#.*|\{\{-? *\/\*[^]*?\*\//g;
const fencedCodePattern = /^ *```[^]*?^ *```|`[^`\n]*`/gm;
const stringPattern = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g;
/**
 * Strings of several words, such as messages, test titles and log lines. Excludes template
 * literals, because they contain SQL.
 */
const sentencePattern = /"(?:\\.|[^"\\\n])* (?:\\.|[^"\\\n])*"/g;

/**
 * Blanks out everything except the matches.
 *
 * @type {(text: string, pattern: RegExp) => string}
 */
const keepOnly = (text, pattern) => {
  let end = 0;
  let result = "";
  for (const { 0: matchedText, index } of text.matchAll(pattern)) {
    result += text.slice(end, index).replaceAll(/[^\n]/g, " ") + matchedText;
    end = index + matchedText.length;
  }
  return result;
};

/** @type {(text: string, pattern: RegExp) => string} */
const blankOut = (text, pattern) =>
  text.replaceAll(pattern, (matchedText) => matchedText.replaceAll(/[^\n]/g, " "));

/** @type {{ file: string, line: number, word: string }[]} */
const findings = [];

/** @type {(file: string, textBefore: string, word: string) => void} */
const addFinding = (file, textBefore, word) => {
  findings.push({ file, line: textBefore.split("\n").length, word: word.toLowerCase() });
};

/** @type {(file: string, text: string, pattern: RegExp) => void} */
const findWords = (file, text, pattern) => {
  for (const { 0: word, index } of text.matchAll(pattern))
    addFinding(file, text.slice(0, index), word);
};

/** @type {(file: string, code: string) => void} */
const findIdentifiers = (file, code) => {
  for (const { 0: identifier, index } of code.matchAll(/[A-Za-z_$][\w$]*/g)) {
    const parts = identifier.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
    const word = parts.find((part) => forbiddenIdentifierParts.has(part.toLowerCase()));
    if (word !== undefined) addFinding(file, code.slice(0, index), word);
  }
};

for (const file of listFiles(root, /\.(?:ts|tsx|mjs|js|css|sol|ya?ml|tpl|conf|md)$/)) {
  if (skippedFiles.has(file)) continue;
  const text = readFileSync(join(root, file), "utf8");
  if (file.endsWith(".md")) findWords(file, blankOut(text, fencedCodePattern), prosePattern);
  else if (configFilePattern.test(file))
    findWords(file, keepOnly(text, configCommentPattern), prosePattern);
  else if (codeFilePattern.test(file)) {
    findWords(file, keepOnly(text, commentPattern), prosePattern);
    const code = blankOut(text, commentPattern);
    if (pageTextFilePattern.test(file)) findWords(file, keepOnly(code, stringPattern), pagePattern);
    else findWords(file, keepOnly(code, sentencePattern), prosePattern);
    if (!/\.(?:css|sol)$/.test(file)) findIdentifiers(file, blankOut(code, stringPattern));
  }
}

const usedExceptions = new Set();
const problems = findings
  .filter(({ file, word }) => {
    const exception = exceptions.find(
      (candidate) => candidate.file === file && candidate.word === word,
    );
    usedExceptions.add(exception);
    return exception === undefined;
  })
  .map(({ file, line, word }) => `${file}:${line}: "${word}" is a word of the former dialect`);
for (const exception of exceptions) {
  if (!usedExceptions.has(exception) && process.argv[2] === undefined)
    problems.push(`${exception.file}: the exception for "${exception.word}" is not needed`);
}
if (exceptions.length > exceptionsMax)
  problems.push(`there are more than ${exceptionsMax} exceptions`);

for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${problems.length} problems\n`);
process.exit(problems.length === 0 ? 0 : 1);
