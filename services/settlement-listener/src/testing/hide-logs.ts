type Reply = { id: unknown; result?: unknown };

const blockNotFoundError = { code: -32_000, message: "header not found" };
const emptyBloom = `0x${"0".repeat(512)}`;

/**
 * Returns a corruption for a provider that hides all logs. The provider's blooms, log results and
 * receipts contain no logs. When the logs of `paidBlock` are first requested, the provider reports
 * that it does not have that block, so another provider returns them.
 */
export const hideLogs = (paidBlock: number): ((reply: unknown) => string) => {
  let hasRejected = false;
  return (reply) => {
    const replies = [reply].flat() as Reply[];
    const concernsPaidBlock = replies.some(
      ({ result }) => isObject(result) && Number(Reflect.get(result, "number")) === paidBlock,
    );
    const shouldReject =
      !hasRejected && concernsPaidBlock && replies.some(({ result }) => Array.isArray(result));
    hasRejected ||= shouldReject;
    const changedReplies = replies.map(({ id, result }) => ({
      jsonrpc: "2.0",
      id,
      ...(shouldReject
        ? { error: blockNotFoundError }
        : { result: Array.isArray(result) ? [] : result }),
    }));
    return JSON.stringify(
      Array.isArray(reply) ? changedReplies : changedReplies[0],
      (key, value: unknown) => {
        if (key === "logsBloom") return emptyBloom;
        return key === "logs" ? [] : value;
      },
    );
  };
};

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
