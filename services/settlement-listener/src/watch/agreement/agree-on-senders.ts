import type { WatchContext } from "../chain/watch-context.ts";
import type { Sender } from "../chain-reader.ts";
import { reachQuorum, getQuorum } from "./reach-quorum.ts";

/**
 * Asks who sent transactions, and with which nonces, until two providers, where there are two, say the
 * same of each. One on which they do not agree, or that they do not know, is left out.
 */
export const agreeOnSenders = async (
  { reader, verifiers }: Pick<WatchContext, "reader" | "verifiers">,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Sender>> => {
  if (verifiers.length === 1) return reader.readSenders(hashes);
  const { agreedValues: agreedSenders } = await reachQuorum({
    verifiers,
    quorum: getQuorum(verifiers),
    keys: hashes,
    fetchValues: ({ reader: verifierReader }, openHashes) => verifierReader.readSenders(openHashes),
    toFingerprint: ({ address, nonce }) => `${address} ${nonce}`,
  });
  return agreedSenders;
};
