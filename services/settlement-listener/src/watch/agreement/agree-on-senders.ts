import type { WatchContext } from "../chain/watch-context.ts";
import type { Sender } from "@payment-links/chains/chain-reader";
import { reachQuorum, getQuorum } from "./reach-quorum.ts";

/**
 * Returns the senders and nonces of transactions. With two or more providers, two must agree on
 * each. Leaves out transactions that are unknown or that providers disagree on.
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
