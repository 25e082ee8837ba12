import { RpcError, serveJsonRpc } from "../serve-json-rpc.ts";
import type { LocalBitcoinChain } from "./start-bitcoin-chain.ts";

/** Replaces the result of a method. If it throws, the call is rejected with that error. */
export type Misreport = (method: string, params: readonly unknown[], result: unknown) => unknown;

/**
 * Starts a proxy in front of the node that can change the node's results. It acts as a second node,
 * or as a node that returns false data.
 */
export const startNodeProxy = async (chain: Pick<LocalBitcoinChain, "callRpc">) => {
  let misreport: Misreport = (_method, _params, result) => result;
  let hiddenTxids: ReadonlySet<unknown> = new Set();
  /** The results to return if the node rejects a call, by method and parameters. */
  const orphanedResults = new Map<string, unknown>();
  const toCallKey = (method: string, ...params: unknown[]) => JSON.stringify([method, ...params]);
  const counts = new Map<string, number>();
  const server = await serveJsonRpc({
    handleCall: async (method, params) => {
      counts.set(method, (counts.get(method) ?? 0) + 1);
      if (method === "getrawtransaction" && hiddenTxids.has(params[0])) {
        throw new RpcError(-5, "No such mempool or blockchain transaction");
      }
      try {
        return misreport(method, params, await chain.callRpc(method, ...params));
      } catch (error) {
        const result = orphanedResults.get(toCallKey(method, ...params));
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
    /** Returns errors for these transactions, as if the node did not know them. */
    hideTransactions: (txids: readonly string[]): void => {
      hiddenTxids = new Set(txids);
    },
    /**
     * Continues to return a mined transaction after its block is orphaned, like Bitcoin Core does
     * with its index.
     */
    keepOrphaned: async (txid: string): Promise<void> => {
      const transaction = (await chain.callRpc("getrawtransaction", txid, 1)) as {
        blockhash: string;
        hex: string;
      };
      const header = (await chain.callRpc("getblockheader", transaction.blockhash, true)) as object;
      const { blockhash, hex } = transaction;
      // A listener that read the mempool between the two blocks asks for the bytes alone.
      orphanedResults.set(toCallKey("getrawtransaction", txid, 0), hex);
      orphanedResults.set(toCallKey("getrawtransaction", txid, 1), {
        ...transaction,
        confirmations: 0,
      });
      orphanedResults.set(toCallKey("getblockheader", blockhash, true), {
        ...header,
        confirmations: -1,
      });
    },
    clearFaults: (): void => {
      hiddenTxids = new Set();
      misreport = (_method, _params, result) => result;
    },
    /** Returns how often a method was called. */
    getRequestCount: (method: string): number => counts.get(method) ?? 0,
  };
};
export type NodeProxy = Awaited<ReturnType<typeof startNodeProxy>>;
