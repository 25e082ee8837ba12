import { fileURLToPath } from "node:url";
import type { BrowserContext, Page } from "playwright-core";
import { type Hex, encodeFunctionData, parseAbi } from "viem";
import { call } from "./client.ts";

type WalletRequest = { method: string; params?: readonly unknown[] };
export type WalletMethodHandler = (params: readonly unknown[]) => unknown;

/** How a wallet supports batched calls (EIP-5792). */
export type BatchSupport = {
  /**
   * `supported` if the account already delegates to a contract, or `ready` if it must be upgraded
   * first.
   */
  status: "supported" | "ready";
  /** The contract that the account delegates to (EIP-7702). */
  delegate: string;
};

type WalletOptions = {
  name?: string;
  /** The node that executes the wallet's requests and signs for its account. */
  nodeUrl: string;
  account: string;
  /** The wallet's initial network. */
  chainId: string;
  /** Whether the wallet only announces itself when {@link announceLateWallets} is called. */
  announcesLate?: boolean;
  /** By default, the wallet does not support batches. */
  batching?: BatchSupport;
};

/** A wallet's error response (EIP-1193). */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** An error response that is not a `WalletError`: an object with any fields, or a string. */
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
/**
 * More gas than any batch uses. It is not estimated, because the batch can depend on a transaction
 * that is not in a block yet.
 */
const batchGas = "0xf4240";
const delegation = "0xef0100";

export type CallNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * Implements a wallet's batches with a real node. The account delegates to a contract, and the
 * calls are sent as one transaction from the account to itself.
 */
const createBatches = (callNode: CallNode, account: string, batching: BatchSupport | undefined) => {
  const hashesByBatchId = new Map<string, string>();
  const requireBatching = (): BatchSupport => {
    if (batching === undefined) throw new WalletError(-32601, "no such method");
    return batching;
  };
  return {
    hashesByBatchId,
    handlers: {
      wallet_getCapabilities: ([, chainIds]) => {
        const [chainId = ""] = chainIds as readonly string[];
        return { [chainId]: { atomic: { status: requireBatching().status } } };
      },
      wallet_sendCalls: async ([request]) => {
        const { id = crypto.randomUUID(), calls } = request as Batch;
        const accountCode = `${delegation}${requireBatching().delegate.slice(2)}`;
        await callNode("anvil_setCode", [account, accountCode]);
        const batch = calls.map(({ to, data, value }) => ({ to, data, value: BigInt(value) }));
        const data = encodeFunctionData({ abi: batchAccount, args: [batch] });
        const transaction = { from: account, to: account, data, gas: batchGas };
        hashesByBatchId.set(id, String(await callNode("eth_sendTransaction", [transaction])));
        return { id };
      },
      wallet_getCallsStatus: async ([id]) => {
        const hash = hashesByBatchId.get(String(id));
        if (hash === undefined) throw new WalletError(5730, "no such batch");
        const receipt = await callNode("eth_getTransactionReceipt", [hash]);
        if (receipt === null) return { id, status: 100 };
        const hasSucceeded = (receipt as { status: string }).status === "0x1";
        return { id, status: hasSucceeded ? 200 : 500, receipts: [receipt] };
      },
    } satisfies Record<string, WalletMethodHandler>,
  };
};

const toHex = (chainId: string): string => `0x${BigInt(chainId).toString(16)}`;

type RecordedWalletOptions = {
  name?: string;
  /** Whether the wallet only announces itself when {@link announceLateWallets} is called. */
  announcesLate?: boolean;
  /** The default response to each method. */
  callMethod: (method: string, params: readonly unknown[]) => unknown;
};

/**
 * Creates a wallet for any chain. It handles all requests with default handlers, unless a test
 * replaces the handler of a method. It records all requests.
 */
export const createRecordedWallet = ({
  name = "Test Wallet",
  announcesLate = false,
  callMethod,
}: RecordedWalletOptions) => {
  const requests: WalletRequest[] = [];
  const handlers = new Map<string, WalletMethodHandler>();
  return {
    info: { uuid: crypto.randomUUID(), name, icon: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" },
    announcesLate,
    requests,
    callMethod,
    /** Sets the handler of a method. Without a handler, restores the default. */
    setHandler: (method: string, handler?: WalletMethodHandler): void => {
      if (handler === undefined) handlers.delete(method);
      else handlers.set(method, handler);
    },
    handleRequest: async ({ method, params = [] }: WalletRequest) => {
      requests.push({ method, params });
      try {
        return {
          result: await (handlers.get(method) ?? ((allParams) => callMethod(method, allParams)))(
            params,
          ),
        };
      } catch (error) {
        if (error instanceof WalletResponse) return { error: error.response };
        const code = error instanceof WalletError ? error.code : -32603;
        return { error: { code, message: error instanceof Error ? error.message : String(error) } };
      }
    },
  };
};

/** A wallet that can be installed in a browser. A Tron wallet is injected like TronLink. */
export type InstalledWallet = ReturnType<typeof createRecordedWallet> & {
  tron?: { account: string; methods: readonly string[]; isOld: boolean; nodeOrigin?: string };
};

/** Returns a function that queries a node. It throws the node's error as a wallet error. */
export const createNodeClient =
  (nodeUrl: string): CallNode =>
  async (method, params) => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const response = await call(nodeUrl, { method: "POST", body });
    const error = response.body["error"] as { code: number; message: string } | undefined;
    if (error !== undefined) throw new WalletError(error.code, error.message);
    return response.body["result"];
  };

/** Creates a user's wallet that uses a real node of an EVM chain. */
export const createWallet = ({
  nodeUrl,
  account,
  chainId: initialChainId,
  batching,
  ...options
}: WalletOptions) => {
  let chainId = toHex(initialChainId);
  const callNode = createNodeClient(nodeUrl);
  const batchWallet = createBatches(callNode, account, batching);
  const ownHandlers: Record<string, WalletMethodHandler> = {
    ...batchWallet.handlers,
    eth_requestAccounts: () => [account],
    eth_accounts: () => [account],
    eth_chainId: () => chainId,
    wallet_switchEthereumChain: ([to]) => {
      chainId = (to as { chainId: string }).chainId;
      return null;
    },
  };
  const callMethod = (method: string, params: readonly unknown[]): unknown =>
    (ownHandlers[method] ?? ((allParams) => callNode(method, allParams)))(params);
  const wallet = createRecordedWallet({ ...options, callMethod });
  return {
    ...wallet,
    /** Returns the transactions that the wallet was asked to send, in order. */
    listSentTransactions: () =>
      wallet.requests
        .filter(({ method }) => method === "eth_sendTransaction")
        .map(({ params }) => (params?.[0] ?? {}) as { to: string; data: string; value: string }),
    /** Returns the batches that the wallet was asked to execute, in order. */
    listBatches: () =>
      wallet.requests
        .filter(({ method }) => method === "wallet_sendCalls")
        .map(({ params }) => (params?.[0] ?? {}) as Batch),
    /** The transaction hash of each batch by batch ID. A test can change it. */
    batchHashes: batchWallet.hashesByBatchId,
  };
};
export type TestWallet = ReturnType<typeof createWallet>;

/** Returns a handler that fails with a wallet error. */
export const failWith =
  (code: number, message = "no"): WalletMethodHandler =>
  () => {
    throw new WalletError(code, message);
  };

/** Returns a handler that fails with a response of any form. */
export const failWithResponse =
  (response: unknown): WalletMethodHandler =>
  () => {
    throw new WalletResponse(response);
  };

/** A handler that never responds. */
export const neverRespond: WalletMethodHandler = () => new Promise(() => undefined);

/** Installs wallets in all pages of a context, announced by EIP-6963, and Tron wallets by TIP-6963. */
export const installWallets = async (
  context: BrowserContext,
  wallets: readonly InstalledWallet[],
): Promise<void> => {
  if (wallets.length === 0) return;
  await context.exposeFunction("askWallet", (index: number, request: WalletRequest) =>
    wallets[index]?.handleRequest(request),
  );
  const announcements = wallets.map(({ info, announcesLate, tron }) => ({
    info,
    announcesLate,
    tron,
  }));
  if (announcements.some(({ tron }) => tron?.nodeOrigin !== undefined)) {
    await context.addInitScript({ path: tronWebFile });
  }
  await context.addInitScript(`(${installInPageScript})(${JSON.stringify(announcements)})`);
};

/** Makes the wallets of an open page announce themselves. */
export const announceLateWallets = ({ page }: { page: Page }): Promise<unknown> =>
  page.evaluate(`window.dispatchEvent(new Event("test:announce"))`);

/** The browser build, which the package does not export. */
const tronWebFile = fileURLToPath(
  import.meta.resolve("tronweb").replace(/lib\/.*/, "dist/TronWeb.js"),
);

// Runs in the page, before the page's own script.
const installInPageScript = `(known) => {
  const openTronWeb = (request, { account, methods, nodeOrigin }) => {
    if (nodeOrigin) {
      const web = new TronWeb.TronWeb({ fullHost: nodeOrigin });
      web.setAddress(account);
      // A wallet does this outside of the page. The transactions are from the local chain.
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
    // If the user has connected the wallet before, it is also connected on the next page.
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
  const wallets = known.map(({ info, announcesLate, tron }, index) => {
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
    let isKnown = !announcesLate;
    const announce = () => isKnown &&
      window.dispatchEvent(new CustomEvent(name + ":announceProvider", { detail }));
    window.addEventListener("test:announce", () => { isKnown = true; announce(); });
    window.addEventListener(name + ":requestProvider", announce);
    announce();
    return provider;
  });
  if (!known[0].announcesLate && !known[0].tron) window.ethereum = wallets[0];
}`;
