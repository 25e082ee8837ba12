import { callRpc } from "../call-rpc.ts";
import { RpcError, serveJsonRpc } from "../serve-json-rpc.ts";
import { type TronView, handleTronCall } from "./handle-call.ts";
import { defaultBlockRangeMax, methodNotFoundError, overloadedResponse } from "./tron-errors.ts";

/** A node that uses java-tron's dialect of JSON-RPC. */
export type TronNode = {
  url: string;
  /** Responds to this many HTTP requests like an overloaded node. */
  limitRate(times: number): void;
  /** Makes the node an older version that cannot return all receipts of a block. */
  downgrade(): void;
  close(): Promise<void>;
};

const batchMax = 100;

/**
 * Starts a proxy that makes an EVM node respond like java-tron, with the same limits, errors and
 * empty fields. `finalized` lags `finalizedLag` blocks behind the head.
 */
export const startTronNode = async ({
  target,
  finalizedLag,
  blockRangeMax = defaultBlockRangeMax,
  port,
}: {
  target: string;
  finalizedLag: number;
  /** The maximum distance between the first and the last block of a log request. */
  blockRangeMax?: number;
  port?: number;
}): Promise<TronNode> => {
  const view: TronView = {
    callRpc: (method, ...params) => callRpc(target, method, params),
    finalizedLag,
    blockRangeMax,
  };
  let limitedTimes = 0;
  let isOldVersion = false;
  const server = await serveJsonRpc({
    port,
    rejectRequest: (callCount) => {
      if (limitedTimes > 0) {
        limitedTimes -= 1;
        return overloadedResponse;
      }
      return callCount > batchMax
        ? new RpcError(-32005, `Batch size ${callCount} exceeds the limit of ${batchMax}`)
        : undefined;
    },
    handleCall: (method, params) => {
      if (isOldVersion && method === "eth_getBlockReceipts") throw methodNotFoundError();
      return handleTronCall(view, method, params);
    },
  });
  return {
    url: `${server.url}/jsonrpc`,
    limitRate: (times) => {
      limitedTimes = times;
    },
    downgrade: () => {
      isOldVersion = true;
    },
    close: () => server.close(),
  };
};
