import type { Clock } from "@payment-links/runtime";
import type { Heads } from "../../../domain/plan-scan.ts";
import type { Turn } from "../provider/ask-in-turn.ts";
import type { Answer, Question } from "../provider/json-rpc.ts";
import { readHeader, readQuantity } from "../provider/node-answers.ts";
import type { Provider } from "../provider/provider.ts";
import type { RpcMetrics } from "../rpc-metrics.ts";

/**
 * The furthest head that any provider of a chain has reported; a node with a lower one is behind.
 */
export type HeadMemory = { latest: number };

type HeadsOptions = {
  chainId: string;
  turn: Turn;
  clock: Clock;
  metrics: RpcMetrics;
  memory: HeadMemory;
};

const tagAskedAgainMs = 60_000;
const tags = ["safe", "finalized"] as const;
type Tag = (typeof tags)[number];

/**
 * Reads how far the chain is. A head lower than one reported before is compared with another
 * provider's, and the further one is believed; if no other is ahead, the chain has gone back.
 */
export const createReadHeads = (options: HeadsOptions): (() => Promise<Heads>) => {
  const { chainId, memory, metrics, turn } = options;
  const askHeads = createAskHeads(options.clock);
  return async () => {
    const first = await turn.ask("the heads", async (provider) => ({
      provider,
      heads: await askHeads(provider),
    }));
    let { heads } = first;
    if (heads.latest < memory.latest) {
      metrics.disagreed(chainId, "backward_head");
      const other = await turn.askOther(first.provider, askHeads);
      if (other !== undefined && other.latest > heads.latest) heads = other;
    }
    memory.latest = heads.latest;
    return heads;
  };
};

const createAskHeads = (clock: Clock) => {
  const unknownUntilMs = new WeakMap<Provider, Map<Tag, number>>();

  return async (provider: Provider): Promise<Heads> => {
    const unknown = unknownUntilMs.get(provider) ?? new Map<Tag, number>();
    unknownUntilMs.set(provider, unknown);
    const asked = tags.filter((tag) => (unknown.get(tag) ?? 0) <= clock.elapsedMs());
    const [latestAnswer, ...answers] = await provider.askEach<number | null>([
      headQuestion,
      ...asked.map(tagQuestion),
    ]);
    const latest = readLatest(latestAnswer);
    const heads: Heads = { latest, safe: null, finalized: null };
    for (const [index, tag] of asked.entries()) {
      const block = readTag(answers[index]);
      if (block === null) unknown.set(tag, clock.elapsedMs() + tagAskedAgainMs);
      // On a chain whose blocks are final at once, the tag may be read one block after the head.
      else heads[tag] = Math.min(block, latest);
    }
    return heads;
  };
};

const headQuestion: Question<number | null> = {
  method: "eth_blockNumber",
  params: [],
  read: readQuantity,
};

const tagQuestion = (tag: Tag): Question<number | null> => ({
  method: "eth_getBlockByNumber",
  params: [tag, false],
  read: (result) => readHeader(result)?.number ?? null,
});

const readLatest = (answer: Answer<number | null> | undefined): number => {
  if (answer !== undefined && "fault" in answer) throw answer.fault;
  return answer?.value ?? 0;
};

/** Null if the node does not know the tag; a fault that does not say so is thrown. */
const readTag = (answer: Answer<number | null> | undefined): number | null => {
  if (answer === undefined) return null;
  if (!("fault" in answer)) return answer.value;
  if (answer.fault.kind === "refused" || answer.fault.kind === "behind") return null;
  throw answer.fault;
};
