import type { ChainReader, Heads, Verifier } from "@payment-links/chains/chain-reader";
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
  verifiers,
}: Pick<WatchContext, "chain" | "expectHead" | "verifiers">): Promise<ObservedHeads> => {
  const { settings } = chain;
  const headsByProvider = await readHeadsByProvider(verifiers);
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

/** Returns the heads of the providers that answer, by provider id. Throws if none of them does. */
const readHeadsByProvider = async (
  verifiers: readonly Verifier<Pick<ChainReader, "readHeads">>[],
): Promise<ReadonlyMap<string, Heads>> => {
  const pendingHeads = verifiers.map(
    async ({ id, reader }) => [id, await reader.readHeads()] as const,
  );
  const results = await Promise.allSettled(pendingHeads);
  const headEntries = results.flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  const failure = results.find((result) => result.status === "rejected");
  if (headEntries.length === 0 && failure !== undefined) throw failure.reason;
  return new Map(headEntries);
};
