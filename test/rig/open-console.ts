import type { BrowserContextOptions } from "playwright-core";
import { type Person, type Tab, connectChromium } from "./chromium.ts";
import { call } from "./client.ts";
import { findFreePorts } from "./free-port.ts";
import { openServicesInProcess } from "./services-in-process.ts";

/** The services and a browser, for tests of the console. */
export const openConsole = async (openBrowser = connectChromium) => {
  const [port = 0] = await findFreePorts(1);
  const origin = `http://localhost:${port}`;
  const system = await openServicesInProcess({ baseUrl: origin });
  const chromium = await openBrowser();
  const persons: Person[] = [];

  const openPerson = async (options: BrowserContextOptions = {}): Promise<Person> => {
    const person = await chromium.openPerson({ origin, ...options });
    persons.push(person);
    return person;
  };
  const ask = async (path: string, body: object): Promise<string> => {
    const answer = await call(`${system.internalUrl}/internal/${path}`, { method: "POST", body });
    // All files of the folder share the console: two may have chosen one handle.
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify([body, answer.body])}`);
    return String(answer.body["signInUrl"]);
  };
  const makeSignInUrl = (handle: string) => ask("accounts", { handle, username: handle });
  return {
    ...system,
    origin,
    /** A sign-in link of a new account. */
    makeSignInUrl,
    /** Another one, of an account that is there. */
    makeNewUrl: (handle: string) => ask("sign-in-links", { handle }),
    openPerson,
    /** Somebody new, who is signed in and has opened no page yet. */
    signUp: async (handle: string, options: BrowserContextOptions = {}) => {
      const person = await openPerson(options);
      const [, token] = (await makeSignInUrl(handle)).split("token=");
      const answer = await person.context.request.post(`${origin}/console/api/session`, {
        data: { token },
        headers: { origin },
      });
      if (!answer.ok()) throw new Error(`${handle} was not signed in: ${await answer.text()}`);
      const tab = await person.openTab();
      return { ...person, tab, goTo: (path: string) => tab.goTo(`${origin}/console${path}`) };
    },
    /** Closes the browsers of all persons. */
    closePersons: async (): Promise<void> => {
      await Promise.all(persons.splice(0).map((person) => person.close()));
    },
    close: async () => {
      await chromium.close();
      await system.close();
    },
  };
};

/** By how many pixels the page is wider than its window. */
export const findOverhang = async ({ page }: Tab): Promise<number> =>
  Number(
    await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    ),
  );
