import type { ClassifyError } from "../../rpc/rpc-fault.ts";

/** Error codes from Bitcoin Core's `rpc/protocol.h`. btcd uses most of them. */
const errorCodes = {
  notFound: -5,
  outOfRange: -8,
  warmingUp: -28,
  btcdOutOfRange: -1,
  internal: -32603,
};

const rateLimitPattern =
  /rate.?limit|too many requests|per second|compute units|credits|quota|overloaded/;

/**
 * Classifies a node's error. An unknown block or transaction is classified as `behind`: it shows
 * that this node does not have it, not that the chain does not.
 */
export const classifyError: ClassifyError = (method, { code, message, status }) => {
  const text = message.toLowerCase();
  if (status === 429 || code === 429 || rateLimitPattern.test(text)) return "rate_limited";
  if (code === errorCodes.notFound || code === errorCodes.outOfRange) return "behind";
  // btcd's `getblockheader` returns an internal error for a block that is not on its current chain.
  if (code === errorCodes.internal && method === "getblockheader") return "behind";
  if (code === errorCodes.btcdOutOfRange && text.includes("out of range")) return "behind";
  return code === errorCodes.warmingUp ? "unreachable" : "refused";
};
