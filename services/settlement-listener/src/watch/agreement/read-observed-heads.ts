import {
  type FinalityLimits,
  type BlockLimits,
  selectTrustedHead,
  computeBlockLimits,
  computeSharedLimits,
} from "../../domain/plan-scan.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { getQuorum } from "./reach-quorum.ts";

/** How far a chain is, by what its providers tell. */
export type ObservedHeads = {
  head: number;
  /** How far may be read, and shown as seen. */
  readLimits: BlockLimits;
  /** What two providers vouch for, where there are two; -1 while they do not. */
  agreedLimits: FinalityLimits;
  /** What each provider that answered vouches for, by its id. */
  limitsByProvider: ReadonlyMap<string, BlockLimits>;
};

/** Asks all providers how far the chain is. */
export const readObservedHeads = async ({
  chain,
  readHeadsByProvider,
  verifiers,
}: Pick<WatchContext, "chain" | "readHeadsByProvider" | "verifiers">): Promise<ObservedHeads> => {
  const { settings } = chain;
  const headsByProvider = await readHeadsByProvider();
  const heads = [...headsByProvider.values()];
  return {
    head: selectTrustedHead(heads),
    ...computeSharedLimits(heads, settings, getQuorum(verifiers)),
    limitsByProvider: new Map(
      [...headsByProvider].map(([id, providerHeads]) => [
        id,
        computeBlockLimits(providerHeads, settings),
      ]),
    ),
  };
};
