import type { Clock } from "@payment-links/runtime";
import type { Heads } from "../../../domain/plan-scan.ts";
import type { RpcResult, RpcRequest } from "../../../rpc/json-rpc.ts";
import { parseHeader, parseQuantity } from "../rpc-results.ts";
import type { Provider } from "../../../rpc/provider.ts";
import type { ReaderContext } from "../../../rpc/create-chain-readers.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import { readFurthestHeads } from "../../../rpc/read-furthest-heads.ts";

type HeadsContext = Pick<
  ReaderContext,
  "chainId" | "clock" | "highestHead" | "metrics" | "failover"
>;

const tagRetryMs = 60_000;
const tags = ["safe", "finalized"] as const;
type Tag = (typeof tags)[number];

/** Creates the read of the latest block and of the blocks with the `safe` and `finalized` tags. */
export const createReadHeads = (context: HeadsContext): (() => Promise<Heads>) =>
  readFurthestHeads(context, createFetchHeads(context.clock));

/** What is known about the tags of a provider. */
type TagState = {
  /**
   * The tags that the provider does not know, with the time at which to request each again,
   * according to the clock's `elapsedMs`.
   */
  unknownUntilMs: Map<Tag, number>;
  /** The tags that the provider has returned at least once. */
  knownTags: Set<Tag>;
};

const createFetchHeads = (clock: Clock) => {
  const tagStates = new WeakMap<Provider, TagState>();

  return async (provider: Provider): Promise<Heads> => {
    const { knownTags, unknownUntilMs } = tagStates.get(provider) ?? {
      unknownUntilMs: new Map(),
      knownTags: new Set(),
    };
    tagStates.set(provider, { unknownUntilMs, knownTags });
    const requestedTags = tags.filter((tag) => (unknownUntilMs.get(tag) ?? 0) <= clock.elapsedMs());
    const [latestResult, ...tagResults] = await provider.requestEach<number | null>([
      headRequest,
      ...requestedTags.map(tagRequest),
    ]);
    const latest = unwrapLatest(latestResult);
    const heads: Heads = { latest, safe: null, finalized: null };
    for (const [index, tag] of requestedTags.entries()) {
      const block = unwrapTag(tagResults[index]);
      // If the tag counted as missing, blocks would become final by depth, and such a settlement
      // could not be reversed.
      if (block === null && knownTags.has(tag))
        throw new RpcFault("behind", `no ${tag}, which it had`);
      if (block === null) {
        unknownUntilMs.set(tag, clock.elapsedMs() + tagRetryMs);
        continue;
      }
      knownTags.add(tag);
      // On a chain with immediate finality, a new block may arrive between both reads, so the tag
      // can be ahead of the head.
      heads[tag] = Math.min(block, latest);
    }
    return heads;
  };
};

const headRequest: RpcRequest<number | null> = {
  method: "eth_blockNumber",
  params: [],
  parseResult: parseQuantity,
};

const tagRequest = (tag: Tag): RpcRequest<number | null> => ({
  method: "eth_getBlockByNumber",
  params: [tag, false],
  parseResult: (result) => parseHeader(result)?.number ?? null,
});

const unwrapLatest = (result: RpcResult<number | null> | undefined): number => {
  if (result !== undefined && "fault" in result) throw result.fault;
  return result?.value ?? 0;
};

/** Returns null if the node does not know the tag. Rethrows any other fault. */
const unwrapTag = (result: RpcResult<number | null> | undefined): number | null => {
  if (result === undefined) return null;
  if (!("fault" in result)) return result.value;
  if (result.fault.kind === "refused" || result.fault.kind === "behind") return null;
  throw result.fault;
};
