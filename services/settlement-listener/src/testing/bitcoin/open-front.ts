import { RpcError, serveJsonRpc } from "../serve-json-rpc.ts";
import type { BitcoinChain } from "./open-bitcoin-chain.ts";

/** Turns what the node says to a method into something else; throws what it is to refuse with. */
export type Lie = (method: string, params: readonly unknown[], told: unknown) => unknown;

/** Something before the node that may change its answers: another node, or one that lies. */
export const openFront = async (chain: Pick<BitcoinChain, "ask">) => {
  let lie: Lie = (_method, _params, told) => told;
  let forgotten: ReadonlySet<unknown> = new Set();
  /** What is told where the node refuses, by the method and its first parameter. */
  const kept = new Map<string, unknown>();
  const counts = new Map<string, number>();
  const front = await serveJsonRpc({
    answer: async (method, params) => {
      counts.set(method, (counts.get(method) ?? 0) + 1);
      if (method === "getrawtransaction" && forgotten.has(params[0])) {
        throw new RpcError(-5, "No such mempool or blockchain transaction");
      }
      try {
        return lie(method, params, await askNode(chain, method, params));
      } catch (error) {
        const told = kept.get(`${method} ${String(params[0])}`);
        if (told === undefined) throw error;
        return told;
      }
    },
  });
  return {
    url: front.url,
    close: () => front.close(),
    lie: (how: Lie): void => {
      lie = how;
    },
    /** Knows nothing of these transactions. */
    forget: (txids: readonly string[]): void => {
      forgotten = new Set(txids);
    },
    /** Goes on telling of a mined transaction once its block has lost, as Bitcoin Core's index does. */
    keepMined: async (txid: string): Promise<void> => {
      const told = (await chain.ask("getrawtransaction", txid, 1)) as { blockhash: string };
      const header = (await chain.ask("getblockheader", told.blockhash, true)) as object;
      kept.set(`getrawtransaction ${txid}`, { ...told, confirmations: 0 });
      kept.set(`getblockheader ${told.blockhash}`, { ...header, confirmations: -1 });
    },
    beHonest: (): void => {
      forgotten = new Set();
      lie = (_method, _params, told) => told;
    },
    /** How often it was asked by a method. */
    askedCount: (method: string): number => counts.get(method) ?? 0,
  };
};
export type Front = Awaited<ReturnType<typeof openFront>>;

const askNode = async (
  { ask }: Pick<BitcoinChain, "ask">,
  method: string,
  params: readonly unknown[],
): Promise<unknown> => {
  try {
    return await ask(method, ...params);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    throw typeof code === "number" ? new RpcError(code, message) : error;
  }
};
