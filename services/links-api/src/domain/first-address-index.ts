/** The number of unused addresses that a wallet app scans after the last used one. */
const gapLimit = 20;
/**
 * The maximum number of scanned indexes. An account with more used addresses is probably not only
 * used for payment links.
 */
const scannedIndexesMax = 1_000;
/**
 * The number of unused addresses left to the wallet app, which shows one of them under "Receive".
 */
const indexesLeftToOwner = 5;

type FindUsedIndexes = (range: { startIndex: number; count: number }) => Promise<readonly number[]>;

/**
 * Suggests the index of the first address for links, a few indexes after the last used one.
 * `findUsedIndexes` returns the used indexes in a range. Returns undefined if the scan reaches its
 * limit before it finds unused addresses.
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

/** The suggested index if no node is available. The owner has to check it in the wallet app. */
export const defaultFirstAddressIndex = indexesLeftToOwner;
