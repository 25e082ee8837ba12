import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createLanguageNegotiator } from "./negotiate-language.ts";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const createLanguageRoute = (path: string, languages: readonly string[]) => {
  const getLanguage = createLanguageNegotiator(languages);
  return publicRoute({
    method: "get",
    path,
    handle: (req, res) => void res.json(getLanguage(req)),
  });
};

let app: StartedApp;
beforeAll(async () => {
  app = await startApp({
    routes: [
      createLanguageRoute("/two", ["en", "de"]),
      createLanguageRoute("/many", ["en", "de", "es", "fr", "pt-BR", "ja", "zh-Hans"]),
    ],
  });
});
afterAll(() => app.close());

const readLanguage = async (path: string, acceptLanguage: string | undefined) => {
  const headers = acceptLanguage === undefined ? {} : { "accept-language": acceptLanguage };
  return JSON.parse((await sendRequest({ port: app.port, path, headers })).text) as unknown;
};

describe("of a page in English and German", () => {
  test.each([
    [undefined, "en"],
    ["", "en"],
    ["*", "en"],
    ["de", "de"],
    ["de-AT,en;q=0.5", "de"],
    ["de;q=0.5,en;q=0.4", "de"],
    ["en,de", "en"],
    ["en;q=0.4,de;q=0.4", "en"],
    ["fr,de;q=0.1", "de"],
    ["fr", "en"],
    ["fr,*;q=0.5,de;q=0.1", "en"],
    ["de;q=0", "en"],
    ["de,".repeat(100), "de"],
    // Longer than any browser sends, and expensive to parse.
    ["de,".repeat(1_000), "en"],
  ])("a browser with the Accept-Language %j gets %s", async (acceptLanguage, expectedLanguage) => {
    expect(await readLanguage("/two", acceptLanguage)).toBe(expectedLanguage);
  });
});

describe("of a page in many languages", () => {
  test.each([
    ["es-MX,es;q=0.9,en;q=0.8", "es"],
    ["fr-CA,en;q=0.5", "fr"],
    ["FR-fr", "fr"],
    ["pt", "pt-BR"],
    ["pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7", "pt-BR"],
    ["pt-PT,en;q=0.9", "pt-BR"],
    ["ja-JP", "ja"],
    ["zh", "zh-Hans"],
    ["zh-CN,zh;q=0.9", "zh-Hans"],
    ["zh-Hans", "zh-Hans"],
    ["zh-Hans-HK,en;q=0.5", "zh-Hans"],
    ["zh-SG", "zh-Hans"],
    ["zh-TW", "en"],
    ["zh-Hant", "en"],
    ["zh-HK,en;q=0.9,zh-CN;q=0.1", "en"],
    ["zh-TW,ja;q=0.5", "ja"],
    // The browser also accepts Chinese in general.
    ["zh-TW,zh;q=0.9,en;q=0.8", "zh-Hans"],
    ["nl,sv;q=0.9", "en"],
    ["not_a_tag,es;q=0.5", "es"],
    ["de-1,-,fr;q=0.1", "fr"],
  ])("a browser with the Accept-Language %j gets %s", async (acceptLanguage, expectedLanguage) => {
    expect(await readLanguage("/many", acceptLanguage)).toBe(expectedLanguage);
  });
});
