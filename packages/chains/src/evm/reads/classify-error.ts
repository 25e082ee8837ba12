import type { ClassifyError } from "../../rpc/rpc-fault.ts";

// Only the messages distinguish these errors, because nodes use the same codes for different
// errors. For example, EIP-1474 defines -32005 for any exceeded limit. A lagging node's message may
// also contain the word "range", so `behindPattern` is tested first.
const behindPattern =
  /current head|last accepted|unknown block|block not found|header not found|blockoutofrange/;
const rateLimitPattern =
  /rate.?limit|too many requests|requests? (?:count|limit)|per second|throughput|compute units|capacity|quota|overloaded/;
const rangeTooWidePattern =
  /range|too many|too large|too big|limit|exceed|(?:more|greater|smaller) than|maximum|at most|timed? ?out|response size/;

// Matches the errors for a response that is too large for the node, for any method. For calls of a
// batch, geth reports -32003 if they no longer fit and -32002 if they exceed the time limit.
const responseTooLargePattern =
  /too large|too big|response size|bodysize|size limit|size exceed|exceeds? (?:the )?(?:max|limit)|timed? ?out/;

/** Classifies the error that a node returned for the given method. */
export const classifyError: ClassifyError = (method, { code, message, status }) => {
  const text = message.toLowerCase();
  if (status === 429 || rateLimitPattern.test(text)) return "rate_limited";
  if (method === "eth_call" && (code === 3 || text.includes("revert"))) return "reverted";
  if (behindPattern.test(text)) return "behind";
  if (method === "eth_getLogs" && (code === -32005 || rangeTooWidePattern.test(text)))
    return "range";
  if (responseTooLargePattern.test(text)) return "range";
  return code === -32005 ? "rate_limited" : "refused";
};
