/** So many addresses a wallet app looks ahead of the last used one. */
const lookAhead = 20;
/** No further is looked: an account that was used more is not the shop's own. */
const lookedMax = 1_000;
/** So many unused addresses are left to the wallet app, which shows one of them under "Receive". */
const leftToOwner = 5;

type FindUsed = (range: { from: number; count: number }) => Promise<readonly number[]>;

/**
 * Suggests the index of the first address that links get: a few above the last used one. `findUsed` returns
 * the used indexes of a range. Undefined where no end of the used ones is found.
 */
export const suggestFirstIndex = async (findUsed: FindUsed): Promise<number | undefined> => {
  let lastUsed = -1;
  for (let from = 0; from < lookedMax; from += lookAhead) {
    const used = await findUsed({ from, count: lookAhead });
    if (used.length === 0) return lastUsed + 1 + leftToOwner;
    lastUsed = Math.max(lastUsed, ...used);
  }
  return undefined;
};

/** What is suggested where no node can tell: the owner has to look into the wallet. */
export const firstIndexUnchecked = leftToOwner;
