import {
  type FinalityLimits,
  type BlockLimits,
  selectTrustedHead,
  computeBlockLimits,
  computeSharedLimits,
} from "../../domain/plan-scan.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { getQuorum } from "./reach-quorum.ts";

/** The newest blocks of a chain, according to its providers. */
export type ObservedHeads = {
  head: number;
  /** The limits for reading blocks and reporting payments as seen. */
  readLimits: BlockLimits;
  /** The limits that a quorum of providers has reached. -1 if too few providers answered. */
  agreedLimits: FinalityLimits;
  /** The limits of each provider that answered, by provider id. */
  limitsByProvider: ReadonlyMap<string, BlockLimits>;
};

/** Reads the heads of all providers. */
export const readObservedHeads = async ({
  chain,
  expectHead,
  readHeadsByProvider,
  verifiers,
}: Pick<
  WatchContext,
  "chain" | "expectHead" | "readHeadsByProvider" | "verifiers"
>): Promise<ObservedHeads> => {
  const { settings } = chain;
  const headsByProvider = await readHeadsByProvider();
  const heads = [...headsByProvider.values()];
  const head = selectTrustedHead(heads);
  expectHead(head);
  return {
    head,
    ...computeSharedLimits(heads, settings, getQuorum(verifiers)),
    limitsByProvider: new Map(
      [...headsByProvider].map(([id, providerHeads]) => [
        id,
        computeBlockLimits(providerHeads, settings),
      ]),
    ),
  };
};
