import { invalidParamsError } from "./tron-errors.ts";

/** Calls the EVM node behind the proxy. */
export type CallRpc = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

type Node = { callRpc: CallRpc; finalizedLag: number };

/** Returns the block number of the head. */
export const readHead = async ({ callRpc }: Node): Promise<number> =>
  Number(await callRpc("eth_blockNumber"));

/** Converts a block given as a tag, in hex or in decimal to its number in hex. */
export const resolveBlockNumber = async (node: Node, selector: unknown): Promise<string> => {
  if (selector === "earliest") return "0x0";
  if (selector === "latest") return toHex(await readHead(node));
  if (selector === "finalized") {
    return toHex(Math.max(0, (await readHead(node)) - node.finalizedLag));
  }
  if (selector === "pending" || selector === "safe") {
    throw invalidParamsError(`TAG ${selector} not supported`);
  }
  const isNumber = typeof selector === "string" && /^(?:0x[0-9a-fA-F]+|\d+)$/.test(selector);
  if (!isNumber) throw invalidParamsError("invalid block number");
  return toHex(Number(selector));
};

export const toHex = (number: number): string => `0x${number.toString(16)}`;

const tags: ReadonlySet<unknown> = new Set(["earliest", "pending", "finalized", "safe"]);

/** Throws unless the latest state is requested, because java-tron nodes do not have any other. */
export const rejectOldState = (selector: unknown): void => {
  if (selector === "latest") return;
  if (tags.has(selector)) {
    throw invalidParamsError("TAG [earliest | pending | finalized | safe] not supported");
  }
  const isNumber = typeof selector === "string" && /^(?:0x[0-9a-fA-F]+|\d+)$/.test(selector);
  throw invalidParamsError(
    isNumber ? "QUANTITY not supported, just support TAG as latest" : "invalid block number",
  );
};
