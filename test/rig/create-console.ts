import type { BrowserContextOptions } from "playwright-core";
import { type BrowserUser, type Tab, connectChromium } from "./chromium.ts";
import { call } from "./client.ts";
import { findFreePorts } from "./free-port.ts";
import { startServicesInProcess } from "./services-in-process.ts";

/** The services and a browser, for tests of the console. */
export const createConsole = async (connectBrowser = connectChromium) => {
  const [port = 0] = await findFreePorts(1);
  const origin = `http://localhost:${port}`;
  const system = await startServicesInProcess({ baseUrl: origin });
  const chromium = await connectBrowser();
  const users: BrowserUser[] = [];

  const createUser = async (options: BrowserContextOptions = {}): Promise<BrowserUser> => {
    const user = await chromium.createBrowserUser({ origin, ...options });
    users.push(user);
    return user;
  };
  const postInternal = async (path: string, body: object): Promise<string> => {
    const response = await call(`${system.internalUrl}/internal/${path}`, { method: "POST", body });
    // All files of the folder share the console: two may have chosen one handle.
    if (response.status >= 300)
      throw new Error(`${path}: ${JSON.stringify([body, response.body])}`);
    return String(response.body["signInUrl"]);
  };
  const createSignInUrl = (handle: string) =>
    postInternal("accounts", { handle, username: handle });
  return {
    ...system,
    origin,
    /** A sign-in link of a new account. */
    createSignInUrl,
    /** Another one, of an account that is there. */
    createNewSignInUrl: (handle: string) => postInternal("sign-in-links", { handle }),
    createUser,
    /** Somebody new, who is signed in and has opened no page yet. */
    signUp: async (handle: string, options: BrowserContextOptions = {}) => {
      const user = await createUser(options);
      const [, token] = (await createSignInUrl(handle)).split("token=");
      const response = await user.context.request.post(`${origin}/console/api/session`, {
        data: { token },
        headers: { origin },
      });
      if (!response.ok()) throw new Error(`${handle} was not signed in: ${await response.text()}`);
      const tab = await user.openTab();
      return { ...user, tab, goTo: (path: string) => tab.goTo(`${origin}/console${path}`) };
    },
    /** Closes the browsers of all persons. */
    closeUsers: async (): Promise<void> => {
      await Promise.all(users.splice(0).map((user) => user.close()));
    },
    close: async () => {
      await chromium.close();
      await system.close();
    },
  };
};

/** By how many pixels the page is wider than its window. */
export const measureOverflow = async ({ page }: Tab): Promise<number> =>
  Number(
    await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    ),
  );
