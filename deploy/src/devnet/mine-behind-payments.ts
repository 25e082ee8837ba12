/** What of a Bitcoin chain is looked at and made; hashes in hex. */
type Chain = {
  /** The transactions that wait for a block. */
  mempool(): Promise<readonly string[]>;
  /** Makes one block and answers its hash. */
  mine(): Promise<readonly string[]>;
  /** Those of a block, the miner's own first. */
  transactionsOf(hash: string): Promise<readonly string[]>;
};

/** So many blocks, its own among them, settle a payment, however large it is. */
const blocksBehind = 6;

/** Makes a block at each call for as long as one of the newest holds a payment. */
export const mineBehindPayments = (chain: Chain) => {
  let blocksToMake = blocksBehind;
  return async (): Promise<void> => {
    if ((await chain.mempool()).length > 0) blocksToMake = blocksBehind;
    if (blocksToMake === 0) return;
    const [hash] = await chain.mine();
    // A payment may have come since the look at those that wait.
    const hasPayment = hash !== undefined && (await chain.transactionsOf(hash)).length > 1;
    blocksToMake = (hasPayment ? blocksBehind : blocksToMake) - 1;
  };
};
