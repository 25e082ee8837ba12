/** So many addresses a wallet app looks ahead of the last used one. */
const gapLimit = 20;
/** No further is looked: an account that was used more is not the shop's own. */
const scannedIndexesMax = 1_000;
/** So many unused addresses are left to the wallet app, which shows one of them under "Receive". */
const indexesLeftToOwner = 5;

type FindUsedIndexes = (range: { startIndex: number; count: number }) => Promise<readonly number[]>;

/**
 * Suggests the index of the first address that links get: a few above the last used one. `findUsedIndexes` returns
 * the used indexes of a range. Undefined where no end of the used ones is found.
 */
export const suggestFirstAddressIndex = async (
  findUsedIndexes: FindUsedIndexes,
): Promise<number | undefined> => {
  let lastUsedIndex = -1;
  for (let startIndex = 0; startIndex < scannedIndexesMax; startIndex += gapLimit) {
    const usedIndexes = await findUsedIndexes({ startIndex, count: gapLimit });
    if (usedIndexes.length === 0) return lastUsedIndex + 1 + indexesLeftToOwner;
    lastUsedIndex = Math.max(lastUsedIndex, ...usedIndexes);
  }
  return undefined;
};

/** What is suggested where no node can tell: the owner has to look into the wallet. */
export const defaultFirstAddressIndex = indexesLeftToOwner;
