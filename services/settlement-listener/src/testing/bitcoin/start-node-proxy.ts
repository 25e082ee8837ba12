import { RpcError, serveJsonRpc } from "../serve-json-rpc.ts";
import type { LocalBitcoinChain } from "./start-bitcoin-chain.ts";

/** Turns what the node says to a method into something else; throws what it is to refuse with. */
export type Misreport = (method: string, params: readonly unknown[], result: unknown) => unknown;

/** Something before the node that may change its answers: another node, or one that lies. */
export const startNodeProxy = async (chain: Pick<LocalBitcoinChain, "callRpc">) => {
  let misreport: Misreport = (_method, _params, result) => result;
  let hiddenTxids: ReadonlySet<unknown> = new Set();
  /** What is told where the node refuses, by the method and its first parameter. */
  const orphanedResults = new Map<string, unknown>();
  const counts = new Map<string, number>();
  const server = await serveJsonRpc({
    handleCall: async (method, params) => {
      counts.set(method, (counts.get(method) ?? 0) + 1);
      if (method === "getrawtransaction" && hiddenTxids.has(params[0])) {
        throw new RpcError(-5, "No such mempool or blockchain transaction");
      }
      try {
        return misreport(method, params, await callNode(chain, method, params));
      } catch (error) {
        const result = orphanedResults.get(`${method} ${String(params[0])}`);
        if (result === undefined) throw error;
        return result;
      }
    },
  });
  return {
    url: server.url,
    close: () => server.close(),
    misreport: (override: Misreport): void => {
      misreport = override;
    },
    /** Knows nothing of these transactions. */
    hideTransactions: (txids: readonly string[]): void => {
      hiddenTxids = new Set(txids);
    },
    /** Goes on telling of a mined transaction once its block has lost, as Bitcoin Core's index does. */
    keepOrphaned: async (txid: string): Promise<void> => {
      const transaction = (await chain.callRpc("getrawtransaction", txid, 1)) as {
        blockhash: string;
      };
      const header = (await chain.callRpc("getblockheader", transaction.blockhash, true)) as object;
      orphanedResults.set(`getrawtransaction ${txid}`, { ...transaction, confirmations: 0 });
      orphanedResults.set(`getblockheader ${transaction.blockhash}`, {
        ...header,
        confirmations: -1,
      });
    },
    clearFaults: (): void => {
      hiddenTxids = new Set();
      misreport = (_method, _params, result) => result;
    },
    /** How often it was asked by a method. */
    getRequestCount: (method: string): number => counts.get(method) ?? 0,
  };
};
export type NodeProxy = Awaited<ReturnType<typeof startNodeProxy>>;

const callNode = async (
  { callRpc }: Pick<LocalBitcoinChain, "callRpc">,
  method: string,
  params: readonly unknown[],
): Promise<unknown> => {
  try {
    return await callRpc(method, ...params);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    throw typeof code === "number" ? new RpcError(code, message) : error;
  }
};
