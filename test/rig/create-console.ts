import { Client } from "pg";
import type { BrowserContextOptions } from "playwright-core";
import { getAddress } from "viem";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { type BrowserUser, connectChromium } from "./chromium.ts";
import { call } from "./client.ts";
import { startServicesInProcess } from "./services-in-process.ts";
import type { InstalledWallet } from "./wallet.ts";

/** An address without an owner. */
export const walletAddress = getAddress("0xa0cf798816d4b9b9866b5330eea46a18382f251e");

type UserOptions = BrowserContextOptions & { wallets?: readonly InstalledWallet[] };

/** Starts the services and a browser for tests of the console. */
export const createConsole = async (
  connectBrowser = connectChromium,
  additionalEnv: Readonly<Record<string, string>> = {},
  overrides: Parameters<typeof startServicesInProcess>[0] = {},
) => {
  const [port = 0] = await findFreePorts(1);
  const origin = `http://localhost:${port}`;
  const system = await startServicesInProcess({ ...overrides, baseUrl: origin }, additionalEnv);
  const chromium = await connectBrowser();
  const users: BrowserUser[] = [];

  const createUser = async (options: UserOptions = {}): Promise<BrowserUser> => {
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
    /** Runs a statement in the database of links-api. */
    queryLinksDatabase: async (text: string, values: unknown[] = []) => {
      const client = new Client({ connectionString: system.getAdminUrl("links-api") });
      await client.connect();
      return client.query(text, values).finally(() => client.end());
    },
    /** Creates a user who is signed in and has not opened a page yet. */
    signUp: async (handle: string, options: UserOptions = {}) => {
      const user = await createUser(options);
      const [, token] = (await createSignInUrl(handle)).split("token=");
      const response = await user.context.request.post(`${origin}/console/api/session`, {
        data: { token },
        headers: { origin },
      });
      if (!response.ok()) throw new Error(`${handle} was not signed in: ${await response.text()}`);
      const tab = await user.openTab();
      const call = async (method: "get" | "post" | "patch", path: string, data?: object) => {
        const url = `${origin}/console/api/${path}`;
        const options = { headers: { origin }, ...(data && { data }) };
        const response = await user.context.request[method](url, options);
        if (!response.ok()) throw new Error(`${path}: ${await response.text()}`);
        return (await response.json()) as { id: string; key: string; data: object[] };
      };
      return {
        ...user,
        tab,
        /** Opens a view, and waits until it shows a text, if one is given. */
        goTo: (path: string, expectedText?: string): Promise<void> =>
          tab.goTo(`${origin}/console${path}`, expectedText),
        /** Calls the console API as this user. */
        call,
        /** Adds the wallet that links need. */
        addDefaultWallet: () =>
          call("post", "wallets", { walletAddress, tokenId: "usdc-base", isDefault: true }),
      };
    },
    /**
     * Closes the browsers of all users. Returns the violations of the content security policy and
     * the requests to other origins.
     */
    closeUsers: async (): Promise<string[]> => {
      const closedUsers = users.splice(0);
      await Promise.all(closedUsers.map((user) => user.close()));
      return closedUsers.flatMap(({ violations }) => violations);
    },
    close: async () => {
      await chromium.close();
      await system.close();
    },
  };
};
