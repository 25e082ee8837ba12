type Reply = { id: unknown; result?: unknown };

const notThere = { code: -32_000, message: "header not found" };
const noBloom = `0x${"0".repeat(512)}`;

/**
 * What a provider sends instead that tells of no log: no bloom, no answer and no receipt has any. It has
 * not come to a block yet, it says, when it is first asked for the block's logs: another one gives them.
 */
export const hideLogs = (paidIn: number): ((reply: unknown) => string) => {
  let isAsked = false;
  return (reply) => {
    const replies = [reply].flat() as Reply[];
    const isOfBlock = replies.some(
      ({ result }) => isObject(result) && Number(Reflect.get(result, "number")) === paidIn,
    );
    const refuses = !isAsked && isOfBlock && replies.some(({ result }) => Array.isArray(result));
    isAsked ||= refuses;
    const sent = replies.map(({ id, result }) => ({
      jsonrpc: "2.0",
      id,
      ...(refuses ? { error: notThere } : { result: Array.isArray(result) ? [] : result }),
    }));
    return JSON.stringify(Array.isArray(reply) ? sent : sent[0], (key, value: unknown) => {
      if (key === "logsBloom") return noBloom;
      return key === "logs" ? [] : value;
    });
  };
};

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
