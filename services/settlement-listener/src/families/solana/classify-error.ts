import type { ClassifyError } from "../../rpc/rpc-fault.ts";

/**
 * Block not available for the slot, its transactions not indexed yet, the node behind, or short of
 * the slot that was asked for. A skipped slot is not asked for: if a node says so of one that it has
 * listed, two nodes have answered, or the chain has moved.
 */
const behindCodes: ReadonlySet<number> = new Set([-32004, -32005, -32007, -32009, -32014, -32016]);
const rateLimitPattern =
  /rate.?limit|too many requests|per second|compute units|credits|quota|overloaded/;
const responseTooLargePattern = /too large|too big|too many|response size|exceeds? (?:the )?max/;

/** What kind of fault a node's error is (Agave's `custom_error.rs`). */
export const classifyError: ClassifyError = (_method, { code, message, status }) => {
  const text = message.toLowerCase();
  if (status === 429 || code === 429 || rateLimitPattern.test(text)) return "rate_limited";
  if (behindCodes.has(code)) return "behind";
  return responseTooLargePattern.test(text) ? "range" : "refused";
};
