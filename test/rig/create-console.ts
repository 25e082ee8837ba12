import type { BrowserContextOptions } from "playwright-core";
import { type BrowserUser, type Tab, connectChromium } from "./chromium.ts";
import { call } from "./client.ts";
import { findFreePorts } from "./free-port.ts";
import { startServicesInProcess } from "./services-in-process.ts";

/** Starts the services and a browser for tests of the console. */
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
    // All test files of the folder share the console, so two of them can choose the same handle.
    if (response.status >= 300)
      throw new Error(`${path}: ${JSON.stringify([body, response.body])}`);
    return String(response.body["signInUrl"]);
  };
  const createSignInUrl = (handle: string) =>
    postInternal("accounts", { handle, username: handle });
  return {
    ...system,
    origin,
    /** Creates an account and returns its sign-in link. */
    createSignInUrl,
    /** Returns a new sign-in link for an existing account. */
    createNewSignInUrl: (handle: string) => postInternal("sign-in-links", { handle }),
    createUser,
    /** Creates a user who is signed in and has not opened a page yet. */
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
    /** Closes the browsers of all users. */
    closeUsers: async (): Promise<void> => {
      await Promise.all(users.splice(0).map((user) => user.close()));
    },
    close: async () => {
      await chromium.close();
      await system.close();
    },
  };
};

/** Returns the number of pixels by which the page is wider than its window. */
export const measureOverflow = async ({ page }: Tab): Promise<number> =>
  Number(
    await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    ),
  );
