import type { BrowserContext } from "playwright-core";
import { call } from "./client.ts";

type Asked = { method: string; params?: readonly unknown[] };
type Answer = (params: readonly unknown[]) => unknown;

type WalletOptions = {
  name?: string;
  /** The node that carries out what the wallet is asked, and signs for its account. */
  nodeUrl: string;
  account: string;
  /** The network that the wallet is on at first. */
  chainId: string;
  /** When it makes itself known; at once if not given. */
  announceAfterMs?: number;
};

/** What a wallet says instead of an answer (EIP-1193). */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const hex = (chainId: string): string => `0x${BigInt(chainId).toString(16)}`;

/**
 * A person's wallet over a real node. It answers what it is asked unless the test decides how a
 * method is answered, fails or hangs, and remembers all it was asked.
 */
export const openWallet = (options: WalletOptions) => {
  const { nodeUrl, account, announceAfterMs = 0, name = "Test Wallet" } = options;
  const asked: Asked[] = [];
  const decided = new Map<string, Answer>();
  let chainId = hex(options.chainId);
  const askNode = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const answer = await call(nodeUrl, { method: "POST", body });
    const error = answer.body["error"] as { code: number; message: string } | undefined;
    if (error !== undefined) throw new WalletError(error.code, error.message);
    return answer.body["result"];
  };
  const own: Record<string, Answer> = {
    eth_requestAccounts: () => [account],
    eth_accounts: () => [account],
    eth_chainId: () => chainId,
    wallet_switchEthereumChain: ([to]) => {
      chainId = (to as { chainId: string }).chainId;
      return null;
    },
  };
  const answer = (method: string, params: readonly unknown[]): unknown =>
    (own[method] ?? ((all) => askNode(method, all)))(params);
  return {
    info: { uuid: crypto.randomUUID(), name, icon: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" },
    announceAfterMs,
    asked,
    /** What it was asked to send, in order. */
    sent: () =>
      asked
        .filter(({ method }) => method === "eth_sendTransaction")
        .map(({ params }) => (params?.[0] ?? {}) as { to: string; data: string; value: string }),
    /** How it answers without the test's decision. */
    answer,
    /** Decides how it answers a method from now on; without a decision, as by itself. */
    decide: (method: string, how?: Answer): void => {
      if (how === undefined) decided.delete(method);
      else decided.set(method, how);
    },
    request: async ({ method, params = [] }: Asked) => {
      asked.push({ method, params });
      try {
        return { result: await (decided.get(method) ?? ((all) => answer(method, all)))(params) };
      } catch (error) {
        const code = error instanceof WalletError ? error.code : -32603;
        return { error: { code, message: error instanceof Error ? error.message : String(error) } };
      }
    },
  };
};
export type TestWallet = ReturnType<typeof openWallet>;

/** A wallet's answer that never comes. */
export const never: Answer = () => new Promise(() => undefined);

/** Puts wallets into all pages of a context, each announced by EIP-6963. */
export const giveWallets = async (
  context: BrowserContext,
  wallets: readonly TestWallet[],
): Promise<void> => {
  if (wallets.length === 0) return;
  await context.exposeFunction("askWallet", (index: number, asked: Asked) =>
    wallets[index]?.request(asked),
  );
  const known = wallets.map(({ info, announceAfterMs }) => ({ info, announceAfterMs }));
  await context.addInitScript(`(${inPage})(${JSON.stringify(known)})`);
};

// It runs in the page, before the page's own script.
const inPage = `(known) => {
  const wallets = known.map(({ info, announceAfterMs }, index) => {
    const request = async (asked) => {
      const { result, error } = await window.askWallet(index, asked);
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    };
    const provider = { request, on() {}, removeListener() {} };
    const detail = Object.freeze({ info: { ...info, rdns: "test.wallet" + index }, provider });
    let isKnown = announceAfterMs === 0;
    const announce = () => isKnown &&
      window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    if (!isKnown) setTimeout(() => { isKnown = true; announce(); }, announceAfterMs);
    window.addEventListener("eip6963:requestProvider", announce);
    announce();
    return provider;
  });
  if (known[0].announceAfterMs === 0) window.ethereum = wallets[0];
}`;
