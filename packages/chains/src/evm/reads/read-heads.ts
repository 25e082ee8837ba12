import type { Clock } from "@payment-links/runtime";
import type { Heads } from "../../reads/chain-reader.ts";
import { type RpcRequest, orFault } from "../../rpc/json-rpc.ts";
import { parseHeader, parseQuantity } from "./rpc-results.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";

const tagRetryMs = 60_000;
const tags = ["safe", "finalized"] as const;
type Tag = (typeof tags)[number];

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

/** Creates the read of the latest block and of the blocks with the `safe` and `finalized` tags. */
export const createFetchHeads = (clock: Clock) => {
  const tagStates = new WeakMap<Provider, TagState>();

  return async (provider: Provider): Promise<Heads> => {
    const { knownTags, unknownUntilMs } = tagStates.get(provider) ?? {
      unknownUntilMs: new Map(),
      knownTags: new Set(),
    };
    tagStates.set(provider, { unknownUntilMs, knownTags });
    const requestedTags = tags.filter((tag) => (unknownUntilMs.get(tag) ?? 0) <= clock.elapsedMs());
    const [latest, ...tagResults] = await provider.request([
      headRequest,
      ...requestedTags.map(tagRequest),
    ]);
    const heads: Heads = { latest, safe: null, finalized: null };
    for (const [index, tag] of requestedTags.entries()) {
      const block = toTaggedBlock(tagResults[index]);
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

const headRequest: RpcRequest<number> = {
  method: "eth_blockNumber",
  params: [],
  parseResult: parseQuantity,
};

const tagRequest = (tag: Tag): RpcRequest<number | null | RpcFault> =>
  orFault({
    method: "eth_getBlockByNumber",
    params: [tag, false],
    parseResult: (result) => parseHeader(result)?.number ?? null,
  });

/** Returns null if the node does not know the tag. Throws any other fault. */
const toTaggedBlock = (result: number | null | RpcFault = null): number | null => {
  if (!(result instanceof RpcFault)) return result;
  if (result.kind === "refused" || result.kind === "behind") return null;
  throw result;
};
