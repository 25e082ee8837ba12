import { askRpc } from "../ask-rpc.ts";
import { RpcError, serveJsonRpc } from "../serve-json-rpc.ts";
import { type Rpc, readBlockNumber, refuseOldState } from "./block-selectors.ts";
import { describeBlock, describeLog, describeReceipt, describeTransaction } from "./describe.ts";
import { readLogQuery } from "./log-query.ts";
import { invalidParams } from "./tron-faults.ts";

/** A node that speaks java-tron's dialect. */
export type TronFront = {
  url: string;
  /** Answers the next HTTP requests as a node does that is asked too much. */
  limitRate(times: number): void;
  /** Becomes a node of an older version, which has no receipts of whole blocks. */
  becomeOld(): void;
  close(): Promise<void>;
};

/** What java-tron names and does not have. */
const unavailable: ReadonlySet<string> = new Set([
  "eth_submitWork",
  "eth_sendRawTransaction",
  "eth_sendTransaction",
  "eth_sign",
  "eth_signTransaction",
  "parity_nextNonce",
  "eth_getTransactionCount",
  "eth_getCompilers",
  "eth_compileSolidity",
  "eth_compileLLL",
  "eth_compileSerpent",
  "eth_submitHashrate",
]);

const batchMax = 100;
const tooManyRequests = {
  Error: "class java.lang.IllegalAccessException : lack of computing resources",
};

/** java-tron's own; hosts set less. */
const usualBlockRange = 5_000;

type Context = { ask: Rpc; finalizedLag: number; blockRangeMax: number };
type Answer = (context: Context, params: readonly unknown[]) => unknown;

/**
 * Opens a front before an EVM node that speaks java-tron's JSON-RPC, with its limits, its refusals
 * and the fields that it does not fill. `finalized` is so many blocks behind the head.
 */
export const openTronFront = async ({
  target,
  finalizedLag,
  blockRangeMax = usualBlockRange,
  port,
}: {
  target: string;
  finalizedLag: number;
  /** How many blocks the last one that logs are asked of may be above the first. */
  blockRangeMax?: number;
  port?: number;
}): Promise<TronFront> => {
  const context: Context = {
    ask: (method, ...params) => askRpc(target, method, params),
    finalizedLag,
    blockRangeMax,
  };
  let limitedTimes = 0;
  let isOld = false;
  const server = await serveJsonRpc({
    ...(port === undefined ? {} : { port }),
    refuseAll: (callCount) => {
      if (limitedTimes > 0) {
        limitedTimes -= 1;
        return tooManyRequests;
      }
      return callCount > batchMax
        ? new RpcError(-32005, `Batch size ${callCount} exceeds the limit of ${batchMax}`)
        : undefined;
    },
    answer: (method, params) => {
      if (unavailable.has(method)) {
        throw new RpcError(-32601, `the method ${method} does not exist/is not available`, "{}");
      }
      const answer = isOld && method === "eth_getBlockReceipts" ? undefined : methods[method];
      if (answer === undefined) throw new RpcError(-32601, "method not found");
      return answer(context, params);
    },
  });
  return {
    url: `${server.url}/jsonrpc`,
    limitRate: (times) => {
      limitedTimes = times;
    },
    becomeOld: () => {
      isOld = true;
    },
    close: () => server.close(),
  };
};

const chainMethods: Readonly<Record<string, Answer>> = {
  web3_clientVersion: () => "TRON/v4.8.1/Linux/Java1.8/GreatVoyage-v4.8.1-stand-in",
  net_listening: () => true,
  net_peerCount: () => "0x1",
  eth_syncing: () => false,
  eth_accounts: () => [],
  eth_gasPrice: () => "0x64",
  eth_protocolVersion: () => "0x22",
  net_version: ({ ask }) => ask("eth_chainId"),
  eth_chainId: ({ ask }) => ask("eth_chainId"),
  eth_blockNumber: ({ ask }) => ask("eth_blockNumber"),
};

const blockMethods: Readonly<Record<string, Answer>> = {
  eth_getBlockByNumber: async (context, params) => {
    const [selector, isFull] = expect(params, 2);
    const number = await readBlockNumber(context, selector);
    return describeBlock(await context.ask("eth_getBlockByNumber", number, true), isFull === true);
  },
  eth_getBlockByHash: async ({ ask }, params) => {
    const [hash, isFull] = expect(params, 2);
    return describeBlock(await ask("eth_getBlockByHash", readHash(hash), true), isFull === true);
  },
  eth_getBlockTransactionCountByNumber: async (context, params) =>
    context.ask(
      "eth_getBlockTransactionCountByNumber",
      await readBlockNumber(context, expect(params, 1)[0]),
    ),
  eth_getBlockTransactionCountByHash: ({ ask }, params) =>
    ask("eth_getBlockTransactionCountByHash", readHash(expect(params, 1)[0])),
  eth_getTransactionByHash: async ({ ask }, params) =>
    describeTransaction(await ask("eth_getTransactionByHash", readHash(expect(params, 1)[0]))),
  eth_getTransactionReceipt: async ({ ask }, params) =>
    describeReceipt(await ask("eth_getTransactionReceipt", readHash(expect(params, 1)[0]))),
  eth_getBlockReceipts: async (context, params) => {
    const [selector] = expect(params, 1);
    const isHash = typeof selector === "string" && hashPattern.test(selector);
    const block = isHash
      ? await context.ask("eth_getBlockByHash", readHash(selector), false)
      : await context.ask("eth_getBlockByNumber", await readBlockNumber(context, selector), false);
    const number = (block as { number: string } | null)?.number;
    if (number === undefined || number === "0x0") return null;
    const receipts = await context.ask("eth_getBlockReceipts", number);
    return (receipts as unknown[]).map(describeReceipt);
  },
};

const stateMethods: Readonly<Record<string, Answer>> = {
  eth_getBalance: ({ ask }, params) => {
    const [address, block] = expect(params, 2);
    refuseOldState(block);
    return ask("eth_getBalance", address, "latest");
  },
  eth_getCode: ({ ask }, params) => {
    const [address, block] = expect(params, 2);
    refuseOldState(block);
    return ask("eth_getCode", address, "latest");
  },
  eth_getStorageAt: ({ ask }, params) => {
    const [address, slot, block] = expect(params, 3);
    refuseOldState(block);
    return ask("eth_getStorageAt", address, slot, "latest");
  },
  eth_call: async ({ ask }, params) => {
    const [call, block] = expect(params, 2);
    // A block that is named by an object must be there; then the newest state answers all the same.
    if (typeof block === "string") refuseOldState(block);
    try {
      return await ask("eth_call", call, "latest");
    } catch (error) {
      throw new RpcError(-32000, error instanceof Error ? error.message : "", "{}");
    }
  },
  eth_estimateGas: ({ ask }, params) => ask("eth_estimateGas", expect(params, 1)[0]),
};

const methods: Readonly<Record<string, Answer>> = {
  ...chainMethods,
  ...blockMethods,
  ...stateMethods,
  eth_getLogs: async (context, params) => {
    const query = await readLogQuery(context, expect(params, 1)[0]);
    if (query === undefined) return [];
    return ((await context.ask("eth_getLogs", query)) as unknown[]).map(describeLog);
  },
};

const hashPattern = /^(?:0x)?[0-9a-fA-F]{64}$/;

const readHash = (hash: unknown): string => {
  if (typeof hash !== "string" || !hashPattern.test(hash)) {
    throw invalidParams("invalid hash value");
  }
  return hash.startsWith("0x") ? hash : `0x${hash}`;
};

/** Parameters may be neither missing nor too many. */
const expect = (params: readonly unknown[], count: number): readonly unknown[] => {
  if (params.length !== count) throw invalidParams("method parameters invalid");
  return params;
};
