import type { BrowserContextOptions } from "playwright-core";
import { type Person, type Tab, connectChromium } from "./chromium.ts";
import { call } from "./client.ts";
import { findFreePorts } from "./free-port.ts";
import { openServicesInProcess } from "./services-in-process.ts";

type SignUpOptions = BrowserContextOptions & {
  /** What stands there where the person reads another language than English. */
  words?: { signIn: string; signedIn: string };
};

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
    /** Somebody new, who has signed in by an operator's link. */
    signUp: async (handle: string, { words, ...options }: SignUpOptions = {}) => {
      const person = await openPerson(options);
      const tab = await person.openTab();
      await tab.goTo(await makeSignInUrl(handle));
      await tab.click(words?.signIn ?? `Sign in as ${handle}`);
      await tab.see(words?.signedIn ?? `Signed in as ${handle}`);
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
