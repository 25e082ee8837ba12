import {
  type FinalityLines,
  type Lines,
  believeHead,
  drawLines,
  drawSharedLines,
} from "../../domain/plan-scan.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { quorumOf } from "./agree.ts";

/** How far a chain is, by what its providers tell. */
export type Sight = {
  head: number;
  /** How far may be read, and shown as seen. */
  read: Lines;
  /** What two providers vouch for, where there are two; -1 while they do not. */
  agreed: FinalityLines;
  /** What each provider that answered vouches for, by its id. */
  linesOf: ReadonlyMap<string, Lines>;
};

/** Asks all providers how far the chain is. */
export const readSight = async ({
  chain,
  readHeadsOfEach,
  witnesses,
}: Pick<WatchContext, "chain" | "readHeadsOfEach" | "witnesses">): Promise<Sight> => {
  const { settings } = chain;
  const told = await readHeadsOfEach();
  const heads = [...told.values()];
  return {
    head: believeHead(heads),
    ...drawSharedLines(heads, settings, quorumOf(witnesses)),
    linesOf: new Map([...told].map(([id, each]) => [id, drawLines(each, settings)])),
  };
};
