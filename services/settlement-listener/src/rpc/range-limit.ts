/**
 * How many blocks one provider is asked for at once. The limit is learnt, as providers have no
 * common way to state it.
 */
export type RangeLimit = {
  blocksMax(): number;
  /** A range of that many blocks was too much: at most half of it is asked for next. */
  shrink(blockCount: number): void;
  /**
   * A range of that many blocks was answered: if it was the most that is asked for, more is tried.
   */
  grow(blockCount: number): void;
};

const growthDivisor = 8;
const successesToForget = 64;

/**
 * Halves at once, and grows back by an eighth per answer, up to `rangeBlocksMax`. A size that was
 * refused is tried again only after many answers. So a fixed limit costs few refusals, and a
 * passing one does not last.
 */
export const createRangeLimit = (rangeBlocksMax: number): RangeLimit => {
  let blocksMax = rangeBlocksMax;
  let rejectedSize = Infinity;
  let successCount = 0;
  return {
    blocksMax: () => blocksMax,
    shrink: (blockCount) => {
      rejectedSize = blockCount;
      successCount = 0;
      blocksMax = Math.max(1, Math.min(blocksMax, Math.floor(blockCount / 2)));
    },
    grow: (blockCount) => {
      if (blockCount < blocksMax) return;
      successCount += 1;
      if (successCount >= successesToForget) rejectedSize = Infinity;
      const increasedSize = blocksMax + Math.ceil(blocksMax / growthDivisor);
      blocksMax = Math.max(1, Math.min(rangeBlocksMax, rejectedSize - 1, increasedSize));
    },
  };
};
