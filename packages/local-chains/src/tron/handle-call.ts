import { RpcError } from "../serve-json-rpc.ts";
import { type CallRpc, resolveBlockNumber, rejectOldState } from "./block-selectors.ts";
import {
  serializeBlock,
  serializeLog,
  serializeReceipt,
  serializeTransaction,
} from "./serialize-responses.ts";
import { resolveLogQuery } from "./log-query.ts";
import { invalidParamsError, methodNotFoundError, unavailableMethodError } from "./tron-errors.ts";

/** The EVM node that has the data, and the limits of the java-tron node. */
export type TronView = {
  callRpc: CallRpc;
  /** The number of blocks by which `finalized` lags behind the head. */
  finalizedLag: number;
  /** The maximum distance between the first and the last block of a log request. */
  blockRangeMax: number;
};
type MethodHandler = (view: TronView, params: readonly unknown[]) => unknown;

/** Handles a call like java-tron, with the same limits, errors and empty fields. */
export const handleTronCall = (
  view: TronView,
  method: string,
  params: readonly unknown[],
): unknown => {
  if (unavailableMethods.has(method)) throw unavailableMethodError(method);
  const handler = methods[method];
  if (handler === undefined) throw methodNotFoundError();
  return handler(view, params);
};

/** The methods that java-tron declares but does not support. */
const unavailableMethods: ReadonlySet<string> = new Set([
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

const chainMethods: Readonly<Record<string, MethodHandler>> = {
  web3_clientVersion: () => "TRON/v4.8.1/Linux/Java1.8/GreatVoyage-v4.8.1-stand-in",
  net_listening: () => true,
  net_peerCount: () => "0x1",
  eth_syncing: () => false,
  eth_accounts: () => [],
  eth_gasPrice: () => "0x64",
  eth_protocolVersion: () => "0x22",
  net_version: ({ callRpc }) => callRpc("eth_chainId"),
  eth_chainId: ({ callRpc }) => callRpc("eth_chainId"),
  eth_blockNumber: ({ callRpc }) => callRpc("eth_blockNumber"),
};

const blockMethods: Readonly<Record<string, MethodHandler>> = {
  eth_getBlockByNumber: async (view, params) => {
    const [selector, isFull] = requireParams(params, 2);
    const number = await resolveBlockNumber(view, selector);
    return serializeBlock(await view.callRpc("eth_getBlockByNumber", number, isFull === true));
  },
  eth_getBlockByHash: async ({ callRpc }, params) => {
    const [hash, isFull] = requireParams(params, 2);
    return serializeBlock(await callRpc("eth_getBlockByHash", parseHash(hash), isFull === true));
  },
  eth_getBlockTransactionCountByNumber: async (view, params) =>
    view.callRpc(
      "eth_getBlockTransactionCountByNumber",
      await resolveBlockNumber(view, requireParams(params, 1)[0]),
    ),
  eth_getBlockTransactionCountByHash: ({ callRpc }, params) =>
    callRpc("eth_getBlockTransactionCountByHash", parseHash(requireParams(params, 1)[0])),
  eth_getTransactionByHash: async ({ callRpc }, params) =>
    serializeTransaction(
      await callRpc("eth_getTransactionByHash", parseHash(requireParams(params, 1)[0])),
    ),
  eth_getTransactionReceipt: async ({ callRpc }, params) =>
    serializeReceipt(
      await callRpc("eth_getTransactionReceipt", parseHash(requireParams(params, 1)[0])),
    ),
  eth_getBlockReceipts: async (view, params) => {
    const [selector] = requireParams(params, 1);
    const isHash = typeof selector === "string" && hashPattern.test(selector);
    const block = isHash
      ? await view.callRpc("eth_getBlockByHash", parseHash(selector), false)
      : await view.callRpc("eth_getBlockByNumber", await resolveBlockNumber(view, selector), false);
    const number = (block as { number: string } | null)?.number;
    if (number === undefined || number === "0x0") return null;
    const receipts = await view.callRpc("eth_getBlockReceipts", number);
    return (receipts as unknown[]).map(serializeReceipt);
  },
};

const stateMethods: Readonly<Record<string, MethodHandler>> = {
  eth_getBalance: ({ callRpc }, params) => {
    const [address, block] = requireParams(params, 2);
    rejectOldState(block);
    return callRpc("eth_getBalance", address, "latest");
  },
  eth_getCode: ({ callRpc }, params) => {
    const [address, block] = requireParams(params, 2);
    rejectOldState(block);
    return callRpc("eth_getCode", address, "latest");
  },
  eth_getStorageAt: ({ callRpc }, params) => {
    const [address, slot, block] = requireParams(params, 3);
    rejectOldState(block);
    return callRpc("eth_getStorageAt", address, slot, "latest");
  },
  eth_call: async ({ callRpc }, params) => {
    const [call, block] = requireParams(params, 2);
    // If the block is given as an object, java-tron requires that it exists, but uses the latest
    // state anyway.
    if (typeof block === "string") rejectOldState(block);
    try {
      return await callRpc("eth_call", call, "latest");
    } catch (error) {
      throw new RpcError(-32000, error instanceof Error ? error.message : "", "{}");
    }
  },
  eth_estimateGas: ({ callRpc }, params) => callRpc("eth_estimateGas", requireParams(params, 1)[0]),
};

const methods: Readonly<Record<string, MethodHandler>> = {
  ...chainMethods,
  ...blockMethods,
  ...stateMethods,
  eth_getLogs: async (view, params) => {
    const query = await resolveLogQuery(view, requireParams(params, 1)[0]);
    if (query === undefined) return [];
    return ((await view.callRpc("eth_getLogs", query)) as unknown[]).map(serializeLog);
  },
};

const hashPattern = /^(?:0x)?[0-9a-fA-F]{64}$/;

const parseHash = (hash: unknown): string => {
  if (typeof hash !== "string" || !hashPattern.test(hash)) {
    throw invalidParamsError("invalid hash value");
  }
  return hash.startsWith("0x") ? hash : `0x${hash}`;
};

/** Throws if there are too few or too many parameters. */
const requireParams = (params: readonly unknown[], count: number): readonly unknown[] => {
  if (params.length !== count) throw invalidParamsError("method parameters invalid");
  return params;
};
