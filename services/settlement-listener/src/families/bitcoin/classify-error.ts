import type { ClassifyError } from "../../rpc/rpc-fault.ts";

/** Of Bitcoin Core's `rpc/protocol.h`; btcd has most of them. */
const codes = {
  notFound: -5,
  outOfRange: -8,
  warmingUp: -28,
  btcdOutOfRange: -1,
  internal: -32603,
};

const rateLimited =
  /rate.?limit|too many requests|per second|compute units|credits|quota|overloaded/;

/**
 * What kind of fault a node's error is. A block or a transaction that it does not know is `behind`:
 * that says something of the node, and nothing of the chain.
 */
export const classifyError: ClassifyError = (method, { code, message, status }) => {
  const text = message.toLowerCase();
  if (status === 429 || code === 429 || rateLimited.test(text)) return "rate_limited";
  if (code === codes.notFound || code === codes.outOfRange) return "behind";
  // btcd knows no block by its hash that is not of its chain.
  if (code === codes.internal && method === "getblockheader") return "behind";
  if (code === codes.btcdOutOfRange && text.includes("out of range")) return "behind";
  return code === codes.warmingUp ? "unreachable" : "refused";
};
