/**
 * Limits how many blocks one request to a provider covers. The limit adapts to rejections, because
 * there is no standard way to ask a provider for it.
 */
export type RangeLimit = {
  blocksMax(): number;
  /**
   * Records that a range of this size was rejected. The next request covers at most half of that
   * size.
   */
  shrink(blockCount: number): void;
  /**
   * Records that a range of this size succeeded. If it was as large as the limit, the limit grows.
   */
  grow(blockCount: number): void;
};

const growthDivisor = 8;
const successesToForget = 64;

/**
 * Creates a limit that halves on a rejection and grows by one eighth per success, up to
 * `rangeBlocksMax`. A rejected size is tried again only after 64 successes. Therefore a provider
 * with a fixed limit rejects few requests, and a temporary limit is forgotten.
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
