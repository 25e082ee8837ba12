import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "@jest/globals";

const appDirectory = join(import.meta.dirname, "..");
const files = readdirSync(appDirectory, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith("texts.ts"))
  .toSorted();

/** The arguments passed to text functions. */
const placeholders = ["<one>", "<two>", "<three>"];

/** Loads all texts in a worker, because a module chooses the language when it is loaded. */
const workerSource = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { files, given, languages } = workerData;
  Object.defineProperty(navigator, "languages", { value: languages });
  const say = (_name, value) => (typeof value === "function" ? value(...given) : value);
  Promise.all(files.map((file) => import(file))).then((modules) =>
    parentPort.postMessage(JSON.stringify(modules.map(({ texts }) => texts), say)));`;

const readTexts = async (...languages: string[]): Promise<Map<string, string>> => {
  const workerData = {
    files: files.map((file) => join(appDirectory, file)),
    given: placeholders,
    languages,
  };
  const serializedTexts = await new Promise<string>((resolve, reject) => {
    const worker = new Worker(workerSource, { eval: true, workerData });
    worker.once("message", resolve).once("error", reject);
  });
  const texts = JSON.parse(serializedTexts) as object[];
  return new Map(texts.flatMap((moduleTexts, index) => flatten(moduleTexts, files[index] ?? "")));
};

const flatten = (value: unknown, name: string): [string, string][] =>
  typeof value === "string"
    ? [[name, value]]
    : Object.entries(value as object).flatMap(([key, child]) => flatten(child, `${name} ${key}`));

test("every language has all texts and uses the same arguments in them", async () => {
  const [english, german] = await Promise.all([readTexts("en-GB"), readTexts("xx", "de-AT", "en")]);
  expect(files.length).toBeGreaterThan(7);
  expect([...german.keys()].toSorted()).toEqual([...english.keys()].toSorted());
  expect([...english, ...german].filter(([, text]) => text.trim() === "")).toEqual([]);
  const findPlaceholders = (text = "") =>
    placeholders.filter((placeholder) => text.includes(placeholder));
  for (const [name, text] of english) {
    expect([name, findPlaceholders(german.get(name))]).toEqual([name, findPlaceholders(text)]);
  }
  // Some texts are names or words that are the same in both languages.
  const untranslated = [...english].filter(([name, text]) => german.get(name) === text);
  expect(untranslated.length).toBeLessThan(english.size / 10);
});

test("users without a supported language get English", async () => {
  expect((await readTexts("fr", "xx-YY")).get("frame/texts.ts signOut")).toBe("Sign out");
});
