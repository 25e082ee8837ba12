import type { ClassifyError } from "../../rpc/rpc-fault.ts";

/** Of Bitcoin Core's `rpc/protocol.h`; btcd has most of them. */
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
 * What kind of fault a node's error is. A block or a transaction that it does not know is `behind`:
 * that says something of the node, and nothing of the chain.
 */
export const classifyError: ClassifyError = (method, { code, message, status }) => {
  const text = message.toLowerCase();
  if (status === 429 || code === 429 || rateLimitPattern.test(text)) return "rate_limited";
  if (code === errorCodes.notFound || code === errorCodes.outOfRange) return "behind";
  // btcd knows no block by its hash that is not of its chain.
  if (code === errorCodes.internal && method === "getblockheader") return "behind";
  if (code === errorCodes.btcdOutOfRange && text.includes("out of range")) return "behind";
  return code === errorCodes.warmingUp ? "unreachable" : "refused";
};
