import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { chooseLanguage } from "./choose-language.ts";
import { publicRoute } from "./route.ts";
import { call } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const handle = publicRoute({
  method: "get",
  path: "/",
  handle: (req, res) => void res.json(chooseLanguage(req)),
});

let app: StartedApp;
beforeAll(async () => {
  app = await startApp({ routes: [handle] });
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
])("a browser that asks for %j reads %s", async (asked, language) => {
  const headers = asked === undefined ? {} : { "accept-language": asked };
  expect(JSON.parse((await call({ port: app.port, headers })).text)).toBe(language);
});
