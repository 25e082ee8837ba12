import type { ClassifyError } from "../../rpc/rpc-fault.ts";

/** From Bitcoin Core's `rpc/protocol.h`. btcd uses most of them. */
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
 * Classifies a node's error. An unknown block or transaction means `behind`, because it says
 * something about the node and nothing about the chain.
 */
export const classifyError: ClassifyError = (method, { code, message, status }) => {
  const text = message.toLowerCase();
  if (status === 429 || code === 429 || rateLimitPattern.test(text)) return "rate_limited";
  if (code === errorCodes.notFound || code === errorCodes.outOfRange) return "behind";
  // btcd finds a block by hash only if it is on btcd's own chain.
  if (code === errorCodes.internal && method === "getblockheader") return "behind";
  if (code === errorCodes.btcdOutOfRange && text.includes("out of range")) return "behind";
  return code === errorCodes.warmingUp ? "unreachable" : "refused";
};
