import type { BlockHeader } from "../../../../packages/chains/src/reads/chain-reader.ts";
import type { RpcRequest } from "../../../../packages/chains/src/rpc/json-rpc.ts";
import {
  parseArray,
  parseObject,
  throwInvalidShape,
} from "../../../../packages/chains/src/rpc/parse-result.ts";

/** A transfer of a token, with the reference of the link that it pays. */
export type ToyTransfer = {
  id: string;
  from: string;
  to: string;
  token: string;
  /** In base units. */
  amount: string;
  reference: string;
};

export type ToyBlock = BlockHeader & { transfers: readonly ToyTransfer[] };

/** Requests the name of the chain. */
export const chainRequest: RpcRequest<string> = {
  method: "toy_chain",
  params: [],
  parseResult: (result) => parseText(result),
};

/** Requests the number of the newest block. */
export const headRequest: RpcRequest<number> = {
  method: "toy_head",
  params: [],
  parseResult: (result) => parseNumber(result),
};

/** Requests a block, or null if the node has not reached it. */
export const blockRequest = (number: number): RpcRequest<ToyBlock | null> => ({
  method: "toy_block",
  params: [number],
  parseResult: (result) => (result === null ? null : parseBlock(result)),
});

/** Requests the block with a transfer, or null if no block has it. */
export const transferBlockRequest = (id: string): RpcRequest<ToyBlock | null> => ({
  method: "toy_transferBlock",
  params: [id],
  parseResult: (result) => (result === null ? null : parseBlock(result)),
});

const parseBlock = (result: unknown): ToyBlock => {
  const block = parseObject(result);
  return {
    number: parseNumber(block["number"]),
    hash: parseText(block["hash"]),
    parentHash: parseText(block["parentHash"]),
    timestampSeconds: parseNumber(block["timestampSeconds"]),
    transfers: parseArray(block["transfers"]).map(parseTransfer),
  };
};

const parseTransfer = (item: unknown): ToyTransfer => {
  const transfer = parseObject(item);
  return {
    id: parseText(transfer["id"]),
    from: parseText(transfer["from"]),
    to: parseText(transfer["to"]),
    token: parseText(transfer["token"]),
    amount: parseText(transfer["amount"]),
    reference: parseText(transfer["reference"]),
  };
};

const parseText = (value: unknown): string =>
  typeof value === "string" ? value : throwInvalidShape();

const parseNumber = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : throwInvalidShape();
