import type { Dialect } from "../../rpc/dialect.ts";
import type { ClassifyError } from "../../rpc/rpc-fault.ts";
import { isObject } from "../../rpc/parse-result.ts";
import { classifyError } from "../evm/classify-error.ts";
import type { EvmChain } from "../evm/evm-chain.ts";
import { evmDialect } from "../evm/evm-family.ts";

/** Returns the protocol details of java-tron nodes, which differ from EVM nodes in a few errors. */
export const tronDialect = (chain: Pick<EvmChain, "chainName">): Dialect => ({
  ...evmDialect(chain),
  classifyError: classifyTronError,
  classifyReply: (body) => (isOverloaded(body) ? "rate_limited" : undefined),
});

/**
 * Classifies a java-tron error. It reports any invalid parameter with -32602, and a call of an
 * address without a contract with -32600.
 */
export const classifyTronError: ClassifyError = (method, error) => {
  const text = error.message.toLowerCase();
  if (method === "eth_call" && text.includes("contract is not exist")) return "reverted";
  if (text.includes("invalid blockhash")) return "behind";
  return classifyError(method, error);
};

/** An overloaded node responds with HTTP 200 and an object that is not JSON-RPC. */
const isOverloaded = (body: unknown): boolean =>
  isObject(body) &&
  typeof body["Error"] === "string" &&
  body["Error"].includes("lack of computing resources");
