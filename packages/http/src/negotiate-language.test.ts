import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { negotiateLanguage } from "./negotiate-language.ts";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const languageRoute = publicRoute({
  method: "get",
  path: "/",
  handle: (req, res) => void res.json(negotiateLanguage(req, ["en", "de"])),
});

let app: StartedApp;
beforeAll(async () => {
  app = await startApp({ routes: [languageRoute] });
});
afterAll(() => app.close());

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
  ["de;q=0", "en"],
  ["de,".repeat(100), "de"],
  // Longer than any browser sends, and expensive to parse.
  ["de,".repeat(1_000), "en"],
])("a browser with the Accept-Language %j gets %s", async (acceptLanguage, expectedLanguage) => {
  const headers = acceptLanguage === undefined ? {} : { "accept-language": acceptLanguage };
  expect(JSON.parse((await sendRequest({ port: app.port, headers })).text)).toBe(expectedLanguage);
});
