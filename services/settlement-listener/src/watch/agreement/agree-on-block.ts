import type { WatchContext } from "../chain/watch-context.ts";
import type { Verifier } from "@payment-links/chains/chain-reader";
import { reachQuorum, getQuorum } from "./reach-quorum.ts";

/** The result of asking providers for the hash of a block. */
type BlockAgreement = {
  /** The agreed hash. Undefined if there is no quorum. */
  hash: string | undefined;
  /** The size of the largest group of providers that agree. */
  agreeingProviderCount: number;
  dissentingProviders: readonly string[];
};

/** Asks providers for the hash of a block. Counts contradictions in the metrics. */
export const agreeOnBlock = async (
  { chain, metrics, verifiers }: Pick<WatchContext, "chain" | "metrics" | "verifiers">,
  number: number,
  askedVerifiers: readonly Verifier[] = verifiers,
): Promise<BlockAgreement> => {
  const { agreedValues, contradictedCount, dissentingProviders, agreeingProviderCountMin } =
    await reachQuorum({
      verifiers: askedVerifiers,
      quorum: getQuorum(verifiers),
      keys: [number],
      fetchValues: async ({ reader }) => {
        const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
        return new Map(header === undefined ? [] : [[number, header.hash]]);
      },
      toFingerprint: (hash) => hash,
    });
  metrics.countContradictions(chain.id, "block", contradictedCount);
  return {
    hash: agreedValues.get(number),
    agreeingProviderCount: agreeingProviderCountMin,
    dissentingProviders,
  };
};
