/**
 * How many blocks one provider is asked for at once: learnt, as providers tell it in no common way.
 */
export type RangeLimit = {
  blocksMax(): number;
  /** A range of so many blocks was too much: at most half of it is asked next. */
  shrink(blockCount: number): void;
  /** A range of so many blocks was answered: where it was the most that is asked, more is tried. */
  grow(blockCount: number): void;
};

const growthDivisor = 8;
const answersToForget = 64;

/**
 * Halves at once, and grows back by an eighth per answer, up to `rangeBlocksMax`. What was refused
 * is not tried again before many answers: a fixed limit then costs few refusals, a passing one is
 * outgrown.
 */
export const createRangeLimit = (rangeBlocksMax: number): RangeLimit => {
  let blocksMax = rangeBlocksMax;
  let refused = Infinity;
  let answers = 0;
  return {
    blocksMax: () => blocksMax,
    shrink: (blockCount) => {
      refused = blockCount;
      answers = 0;
      blocksMax = Math.max(1, Math.min(blocksMax, Math.floor(blockCount / 2)));
    },
    grow: (blockCount) => {
      if (blockCount < blocksMax) return;
      answers += 1;
      if (answers >= answersToForget) refused = Infinity;
      const more = blocksMax + Math.ceil(blocksMax / growthDivisor);
      blocksMax = Math.max(1, Math.min(rangeBlocksMax, refused - 1, more));
    },
  };
};
