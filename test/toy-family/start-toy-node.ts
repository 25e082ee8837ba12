import { createHash } from "node:crypto";
import { RpcError, serveJsonRpc } from "@payment-links/local-chains/serve-json-rpc";
import type { ToyBlock, ToyTransfer } from "./family/reads/requests.ts";

/** Starts the only node of a toy chain. It mines a block for each transfer, or on request. */
export const startToyNode = async (chainName: string) => {
  const blocks: ToyBlock[] = [];
  const mine = (transfers: readonly ToyTransfer[] = []): void => {
    const number = blocks.length;
    blocks.push({
      number,
      hash: createHash("sha256").update(`${chainName} ${number}`).digest("hex"),
      parentHash: blocks.at(-1)?.hash ?? "",
      timestampSeconds: Math.floor(Date.now() / 1000),
      transfers,
    });
  };
  mine();
  const handlers: Record<string, (param: unknown) => unknown> = {
    toy_chain: () => chainName,
    toy_head: () => blocks.length - 1,
    toy_block: (number) => blocks[Number(number)] ?? null,
    toy_transferBlock: (wantedId) =>
      blocks.find(({ transfers }) => transfers.some(({ id }) => id === wantedId)) ?? null,
  };
  const { url, close } = await serveJsonRpc({
    handleCall: (method, [param]) => {
      const handle = handlers[method];
      if (handle === undefined) throw new RpcError(-32601, `no method ${method}`);
      return handle(param);
    },
  });
  return {
    url,
    close,
    mine: () => mine(),
    /** Pays like a wallet that opens a payment URI. Returns the id of the transfer. */
    pay: (uri: string, from: string): string => {
      const { pathname: to, searchParams } = new URL(uri);
      const read = (name: string) => searchParams.get(name) ?? "";
      const id = `toytx${blocks.length}`;
      const payment = {
        amount: read("amount"),
        token: read("token"),
        reference: read("reference"),
      };
      mine([{ id, from, to, ...payment }]);
      return id;
    },
  };
};
