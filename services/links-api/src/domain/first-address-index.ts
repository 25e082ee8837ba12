/**
 * The number of unused addresses that a wallet app scans after the last used one. Addresses are
 * checked in windows of this many.
 */
const gapLimit = 20;
/**
 * The last window, so 1,300 addresses are within reach. An account with more used addresses is
 * probably not only used for payment links.
 */
const lastWindow = 64;
/**
 * The number of unused addresses left to the wallet app, which shows one of them under "Receive".
 */
const indexesLeftToOwner = 5;

type FindUsedIndexes = (range: { startIndex: number; count: number }) => Promise<readonly number[]>;

/**
 * Suggests the index of the first address for links, a few indexes after a used one and below a
 * window of unused ones. Doubles the distance until a window is unused, and then halves the rest,
 * because deriving an address takes 1 ms: this checks 13 windows instead of 65. `findUsedIndexes`
 * returns the used indexes in a range. Returns undefined if the last window is used.
 */
export const suggestFirstAddressIndex = async (
  findUsedIndexes: FindUsedIndexes,
): Promise<number | undefined> => {
  const findInWindow = (window: number) =>
    findUsedIndexes({ startIndex: window * gapLimit, count: gapLimit });
  let usedWindow = -1;
  let lastUsedIndex = -1;
  let nextWindow = 0;
  let unusedWindow = lastWindow + 1;
  while (usedWindow + 1 < unusedWindow) {
    const usedIndexes = await findInWindow(nextWindow);
    if (usedIndexes.length === 0) unusedWindow = nextWindow;
    else {
      usedWindow = nextWindow;
      lastUsedIndex = Math.max(...usedIndexes);
    }
    nextWindow =
      unusedWindow > lastWindow
        ? Math.min(Math.max(1, 2 * usedWindow), lastWindow)
        : Math.floor((usedWindow + unusedWindow) / 2);
  }
  return unusedWindow > lastWindow ? undefined : lastUsedIndex + 1 + indexesLeftToOwner;
};

/** The suggested index if no node is available. The owner has to check it in the wallet app. */
export const defaultFirstAddressIndex = indexesLeftToOwner;
