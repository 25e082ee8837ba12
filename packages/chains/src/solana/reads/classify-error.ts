import type { ClassifyError } from "../../rpc/rpc-fault.ts";

/**
 * The codes for a missing block, for transactions that are not indexed yet, and for a node that
 * lags or has not reached the requested slot. Skipped slots are never requested. If a node reports
 * a slot as skipped that it listed before, another node behind the same URL answered, or the chain
 * changed.
 */
const behindCodes: ReadonlySet<number> = new Set([-32004, -32005, -32007, -32009, -32014, -32016]);
const rateLimitPattern =
  /rate.?limit|too many requests|per second|compute units|credits|quota|overloaded/;
const responseTooLargePattern = /too large|too big|too many|response size|exceeds? (?:the )?max/;

/** Classifies a node's error (Agave's `custom_error.rs`). */
export const classifyError: ClassifyError = (_method, { code, message, status }) => {
  const text = message.toLowerCase();
  if (status === 429 || code === 429 || rateLimitPattern.test(text)) return "rate_limited";
  if (behindCodes.has(code)) return "behind";
  return responseTooLargePattern.test(text) ? "range" : "refused";
};
