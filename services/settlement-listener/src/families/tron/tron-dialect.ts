import type { Dialect } from "../../rpc/dialect.ts";
import type { ClassifyError } from "../../rpc/rpc-fault.ts";
import { isObject } from "../../rpc/parse-result.ts";
import { classifyError } from "../evm/classify-error.ts";
import type { EvmChain } from "../evm/evm-chain.ts";
import { evmDialect } from "../evm/evm-family.ts";

/** How java-tron's nodes speak: as EVM nodes do, but for some refusals. */
export const tronDialect = (chain: Pick<EvmChain, "chainName">): Dialect => ({
  ...evmDialect(chain),
  classifyError: classifyTronError,
  classifyReply: (body) => (isOverloaded(body) ? "rate_limited" : undefined),
});

/**
 * What kind of fault a java-tron's error is. It refuses parameters with -32602, whatever is wrong with
 * them, and a call of what is no contract with -32600.
 */
export const classifyTronError: ClassifyError = (method, error) => {
  const text = error.message.toLowerCase();
  if (method === "eth_call" && text.includes("contract is not exist")) return "reverted";
  if (text.includes("invalid blockhash")) return "behind";
  return classifyError(method, error);
};

/** A node that is asked too much answers 200 with an object that is no JSON-RPC. */
const isOverloaded = (body: unknown): boolean =>
  isObject(body) &&
  typeof body["Error"] === "string" &&
  body["Error"].includes("lack of computing resources");
