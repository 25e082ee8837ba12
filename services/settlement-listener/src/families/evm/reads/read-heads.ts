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

/** Reads how far the chain is, by what its nodes tell of the head and of its tags. */
export const createReadHeads = (context: HeadsContext): (() => Promise<Heads>) =>
  readFurthestHeads(context, createFetchHeads(context.clock));

/** What is known of a provider's tags. */
type TagState = {
  /** Before this, by the clock's `elapsedMs`, one that it does not know is not asked for again. */
  unknownUntilMs: Map<Tag, number>;
  /** Those that it has told once. */
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
      // Without it depth would decide, and what it settles is settled for good.
      if (block === null && knownTags.has(tag))
        throw new RpcFault("behind", `no ${tag}, which it had`);
      if (block === null) {
        unknownUntilMs.set(tag, clock.elapsedMs() + tagRetryMs);
        continue;
      }
      knownTags.add(tag);
      // On a chain whose blocks are final at once, the tag may be read one block after the head.
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

/** Null if the node does not know the tag; a fault that does not say so is thrown. */
const unwrapTag = (result: RpcResult<number | null> | undefined): number | null => {
  if (result === undefined) return null;
  if (!("fault" in result)) return result.value;
  if (result.fault.kind === "refused" || result.fault.kind === "behind") return null;
  throw result.fault;
};
