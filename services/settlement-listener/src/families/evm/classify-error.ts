import type { ClassifyError } from "../../rpc/rpc-fault.ts";

// Providers say these in words: the codes have several uses (EIP-1474 gives -32005 to any limit). A
// node that is behind also speaks of a "range", so that case is looked for first.
const behindPattern =
  /current head|last accepted|unknown block|block not found|header not found|blockoutofrange/;
const rateLimitPattern =
  /rate.?limit|too many requests|requests? (?:count|limit)|per second|throughput|compute units|capacity|quota|overloaded/;
const rangeTooWidePattern =
  /range|too many|too large|too big|limit|exceed|(?:more|greater|smaller) than|maximum|at most|timed? ?out|response size/;

// An answer that is too much for the node, whatever was asked. geth says so for the calls of a batch
// that no longer fit (-32003), or for which its time was over (-32002).
const responseTooLargePattern =
  /too large|too big|response size|bodysize|size limit|size exceed|exceeds? (?:the )?(?:max|limit)|timed? ?out/;

/** What kind of fault a node's error is, for the method that was asked. */
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
