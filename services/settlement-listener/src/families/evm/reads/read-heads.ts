import type { Clock } from "@payment-links/runtime";
import type { Heads } from "../../../domain/plan-scan.ts";
import type { Answer, Question } from "../../../rpc/json-rpc.ts";
import { readHeader, readQuantity } from "../node-answers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import { readFurthestHeads } from "../../../rpc/read-furthest-heads.ts";

type HeadsGround = Pick<ReaderGround, "chainId" | "clock" | "memory" | "metrics" | "turn">;

const tagAskedAgainMs = 60_000;
const tags = ["safe", "finalized"] as const;
type Tag = (typeof tags)[number];

/** Reads how far the chain is, by what its nodes tell of the head and of its tags. */
export const createReadHeads = (ground: HeadsGround): (() => Promise<Heads>) =>
  readFurthestHeads(ground, createAskHeads(ground.clock));

/** What is known of a provider's tags. */
type TagMemory = {
  /** Before this, by the clock's `elapsedMs`, one that it does not know is not asked for again. */
  unknownUntilMs: Map<Tag, number>;
  /** Those that it has told once. */
  told: Set<Tag>;
};

const createAskHeads = (clock: Clock) => {
  const memories = new WeakMap<Provider, TagMemory>();

  return async (provider: Provider): Promise<Heads> => {
    const { told, unknownUntilMs } = memories.get(provider) ?? {
      unknownUntilMs: new Map(),
      told: new Set(),
    };
    memories.set(provider, { unknownUntilMs, told });
    const asked = tags.filter((tag) => (unknownUntilMs.get(tag) ?? 0) <= clock.elapsedMs());
    const [latestAnswer, ...answers] = await provider.askEach<number | null>([
      headQuestion,
      ...asked.map(tagQuestion),
    ]);
    const latest = readLatest(latestAnswer);
    const heads: Heads = { latest, safe: null, finalized: null };
    for (const [index, tag] of asked.entries()) {
      const block = readTag(answers[index]);
      // Without it depth would decide, and what it settles is settled for good.
      if (block === null && told.has(tag)) throw new RpcFault("behind", `no ${tag}, which it had`);
      if (block === null) {
        unknownUntilMs.set(tag, clock.elapsedMs() + tagAskedAgainMs);
        continue;
      }
      told.add(tag);
      // On a chain whose blocks are final at once, the tag may be read one block after the head.
      heads[tag] = Math.min(block, latest);
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
