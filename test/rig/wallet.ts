import { fileURLToPath } from "node:url";
import type { BrowserContext } from "playwright-core";
import { type Hex, encodeFunctionData, parseAbi } from "viem";
import { call } from "./client.ts";

type Asked = { method: string; params?: readonly unknown[] };
export type Answer = (params: readonly unknown[]) => unknown;

/** How a wallet carries out several calls as one (EIP-5792). */
export type Batching = {
  /** Whether its account does so already, or has to be upgraded first. */
  status: "supported" | "ready";
  /** The contract that the account delegates to (EIP-7702). */
  delegate: string;
};

type WalletOptions = {
  name?: string;
  /** The node that carries out what the wallet is asked, and signs for its account. */
  nodeUrl: string;
  account: string;
  /** The network that the wallet is on at first. */
  chainId: string;
  /** When it makes itself known; at once if not given. */
  announceAfterMs?: number;
  /** If not given, it knows nothing of batches. */
  batching?: Batching;
};

/** What a wallet says instead of an answer (EIP-1193). */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a wallet throws where it is no such error: an error's own fields, or a plain string. */
class WalletResponse extends Error {
  readonly response: unknown;
  constructor(response: unknown) {
    super("the wallet's own response");
    this.response = response;
  }
}

type Batch = { id?: string; calls: readonly { to: Hex; data: Hex; value: Hex }[] };

const batchAccount = parseAbi([
  "struct Call { address to; bytes data; uint256 value }",
  "function execute(Call[] calls) payable",
]);
/** More than what any batch takes: it is not estimated, as it may have to wait for a block. */
const batchGas = "0xf4240";
const delegation = "0xef0100";

export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * A wallet's batches over a real node: its account delegates to a contract, and the calls are one
 * transaction of the account to itself.
 */
const openBatches = (askNode: AskNode, account: string, batching: Batching | undefined) => {
  const hashes = new Map<string, string>();
  const known = (): Batching => {
    if (batching === undefined) throw new WalletError(-32601, "no such method");
    return batching;
  };
  return {
    hashes,
    own: {
      wallet_getCapabilities: ([, chainIds]) => {
        const [chainId = ""] = chainIds as readonly string[];
        return { [chainId]: { atomic: { status: known().status } } };
      },
      wallet_sendCalls: async ([wanted]) => {
        const { id = crypto.randomUUID(), calls } = wanted as Batch;
        const code = `${delegation}${known().delegate.slice(2)}`;
        await askNode("anvil_setCode", [account, code]);
        const batch = calls.map(({ to, data, value }) => ({ to, data, value: BigInt(value) }));
        const data = encodeFunctionData({ abi: batchAccount, args: [batch] });
        const sent = { from: account, to: account, data, gas: batchGas };
        hashes.set(id, String(await askNode("eth_sendTransaction", [sent])));
        return { id };
      },
      wallet_getCallsStatus: async ([id]) => {
        const hash = hashes.get(String(id));
        if (hash === undefined) throw new WalletError(5730, "no such batch");
        const receipt = await askNode("eth_getTransactionReceipt", [hash]);
        if (receipt === null) return { id, status: 100 };
        const isDone = (receipt as { status: string }).status === "0x1";
        return { id, status: isDone ? 200 : 500, receipts: [receipt] };
      },
    } satisfies Record<string, Answer>,
  };
};

const hex = (chainId: string): string => `0x${BigInt(chainId).toString(16)}`;

type AskedOptions = {
  name?: string;
  /** When it makes itself known; at once if not given. */
  announceAfterMs?: number;
  /** How it answers without the test's decision. */
  answer: (method: string, params: readonly unknown[]) => unknown;
};

/**
 * A wallet, whatever its chain. It answers what it is asked unless the test decides how a method is
 * answered, fails or hangs, and remembers all it was asked.
 */
export const openAsked = ({ name = "Test Wallet", announceAfterMs = 0, answer }: AskedOptions) => {
  const asked: Asked[] = [];
  const decided = new Map<string, Answer>();
  return {
    info: { uuid: crypto.randomUUID(), name, icon: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" },
    announceAfterMs,
    asked,
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
        if (error instanceof WalletResponse) return { error: error.response };
        const code = error instanceof WalletError ? error.code : -32603;
        return { error: { code, message: error instanceof Error ? error.message : String(error) } };
      }
    },
  };
};

/** A wallet that a browser can be given; one for Tron is put into the page as TronLink is. */
export type GivenWallet = ReturnType<typeof openAsked> & {
  tron?: { account: string; methods: readonly string[]; isOld: boolean; nodeOrigin?: string };
};

/** Asks a node, whose error is the wallet's. */
export const askNodeAt =
  (nodeUrl: string): AskNode =>
  async (method, params) => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const answer = await call(nodeUrl, { method: "POST", body });
    const error = answer.body["error"] as { code: number; message: string } | undefined;
    if (error !== undefined) throw new WalletError(error.code, error.message);
    return answer.body["result"];
  };

/** A person's wallet over a real node of an EVM chain. */
export const openWallet = ({
  nodeUrl,
  account,
  chainId: firstChainId,
  batching,
  ...options
}: WalletOptions) => {
  let chainId = hex(firstChainId);
  const askNode = askNodeAt(nodeUrl);
  const batches = openBatches(askNode, account, batching);
  const own: Record<string, Answer> = {
    ...batches.own,
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
  const wallet = openAsked({ ...options, answer });
  return {
    ...wallet,
    /** What it was asked to send, in order. */
    sent: () =>
      wallet.asked
        .filter(({ method }) => method === "eth_sendTransaction")
        .map(({ params }) => (params?.[0] ?? {}) as { to: string; data: string; value: string }),
    /** The batches that it was asked to carry out, as it was asked. */
    batches: () =>
      wallet.asked
        .filter(({ method }) => method === "wallet_sendCalls")
        .map(({ params }) => (params?.[0] ?? {}) as Batch),
    /** In which transaction its batches are, by their ids; a test may tell it of another. */
    batchHashes: batches.hashes,
  };
};
export type TestWallet = ReturnType<typeof openWallet>;

/** A wallet's answer that is an error. */
export const failWith =
  (code: number, message = "no"): Answer =>
  () => {
    throw new WalletError(code, message);
  };

/** A wallet's answer that is an error of any form. */
export const failWithResponse =
  (response: unknown): Answer =>
  () => {
    throw new WalletResponse(response);
  };

/** A wallet's answer that never comes. */
export const never: Answer = () => new Promise(() => undefined);

/** Puts wallets into all pages of a context, each announced by EIP-6963, those for Tron by TIP-6963. */
export const giveWallets = async (
  context: BrowserContext,
  wallets: readonly GivenWallet[],
): Promise<void> => {
  if (wallets.length === 0) return;
  await context.exposeFunction("askWallet", (index: number, asked: Asked) =>
    wallets[index]?.request(asked),
  );
  const known = wallets.map(({ info, announceAfterMs, tron }) => ({ info, announceAfterMs, tron }));
  if (known.some(({ tron }) => tron?.nodeOrigin !== undefined)) {
    await context.addInitScript({ path: tronWebFile });
  }
  await context.addInitScript(`(${inPage})(${JSON.stringify(known)})`);
};

/** The file for browsers, which its package does not name. */
const tronWebFile = fileURLToPath(
  import.meta.resolve("tronweb").replace(/lib\/.*/, "dist/TronWeb.js"),
);

// It runs in the page, before the page's own script.
const inPage = `(known) => {
  const openTronWeb = (request, { account, methods, nodeOrigin }) => {
    if (nodeOrigin) {
      const web = new TronWeb.TronWeb({ fullHost: nodeOrigin });
      web.setAddress(account);
      // What a wallet does out of the page. Its transactions are the local chain's.
      for (const path of ["trx.sign", "transactionBuilder.triggerSmartContract"]) {
        const [room, name] = path.split(".");
        web[room][name] = (...params) => request({ method: path, params });
      }
      return web;
    }
    const web = { ready: true, defaultAddress: { base58: account } };
    for (const path of methods) {
      const [room, name] = path.split(".");
      web[room] = { ...web[room], [name]: (...params) => request({ method: path, params }) };
    }
    return web;
  };
  const openTron = (request, tron) => {
    const provider = { on() {}, removeListener() {}, tronWeb: false };
    // Who was let see the account once, is so in the next page, too.
    const look = async () => {
      const isOpen = await request({ method: "isOpen" });
      provider.tronWeb = isOpen && openTronWeb(request, tron);
    };
    provider.request = async (asked) => {
      const answer = await request(asked);
      await look();
      return answer;
    };
    void look();
    if (tron.isOld) window.tronLink = provider;
    return provider;
  };
  const wallets = known.map(({ info, announceAfterMs, tron }, index) => {
    const request = async (asked) => {
      const { result, error } = await window.askWallet(index, asked);
      if (typeof error === "string") throw error;
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    };
    const provider = tron ? openTron(request, tron) : { request, on() {}, removeListener() {} };
    if (tron?.isOld) return provider;
    const detail = Object.freeze({ info: { ...info, rdns: "test.wallet" + index }, provider });
    const name = tron ? "TIP6963" : "eip6963";
    let isKnown = announceAfterMs === 0;
    const announce = () => isKnown &&
      window.dispatchEvent(new CustomEvent(name + ":announceProvider", { detail }));
    if (!isKnown) setTimeout(() => { isKnown = true; announce(); }, announceAfterMs);
    window.addEventListener(name + ":requestProvider", announce);
    announce();
    return provider;
  });
  if (known[0].announceAfterMs === 0 && !known[0].tron) window.ethereum = wallets[0];
}`;
