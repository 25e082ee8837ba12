import type { WatchContext } from "../chain/watch-context.ts";
import type { Sender } from "../chain-reader.ts";
import { agree, quorumOf } from "./agree.ts";

/**
 * Asks who sent transactions, and with which nonces, until two providers, where there are two, say the
 * same of each. One on which they do not agree, or that they do not know, is left out.
 */
export const agreeOnSenders = async (
  { reader, witnesses }: Pick<WatchContext, "reader" | "witnesses">,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Sender>> => {
  if (witnesses.length === 1) return reader.readSenders(hashes);
  const { agreed } = await agree({
    witnesses,
    quorum: quorumOf(witnesses),
    keys: hashes,
    ask: ({ reader: asked }, open) => asked.readSenders(open),
    printOf: ({ address, nonce }) => `${address} ${nonce}`,
  });
  return agreed;
};
