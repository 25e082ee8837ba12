import type { Dialect } from "../../rpc/provider.ts";
import type { ClassifyError } from "../../rpc/rpc-fault.ts";
import { isObject } from "../../rpc/parse-result.ts";
import { classifyError } from "../../evm/reads/classify-error.ts";
import type { EvmChain } from "../../evm/reads/evm-chain.ts";
import { evmDialect } from "../../evm/reads/create-readers.ts";

/** Returns java-tron's dialect of JSON-RPC. It differs from that of EVM nodes in a few errors. */
export const tronDialect = (chain: Pick<EvmChain, "chainName">): Dialect => ({
  ...evmDialect(chain),
  classifyError: classifyTronError,
  classifyReply: (body) => (isOverloaded(body) ? "rate_limited" : undefined),
});

/**
 * Classifies a java-tron error. java-tron returns -32602 for any invalid parameter, and -32600 for
 * a call to an address without a contract.
 */
export const classifyTronError: ClassifyError = (method, error) => {
  const text = error.message.toLowerCase();
  if (method === "eth_call" && text.includes("contract is not exist")) return "reverted";
  if (text.includes("invalid blockhash")) return "behind";
  return classifyError(method, error);
};

/** An overloaded node responds with HTTP 200 and an object that is not a JSON-RPC response. */
const isOverloaded = (body: unknown): boolean =>
  isObject(body) &&
  typeof body["Error"] === "string" &&
  body["Error"].includes("lack of computing resources");
