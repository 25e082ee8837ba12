/** What of a Bitcoin chain is looked at and made; hashes in hex. */
type MinableChain = {
  /** The transactions that wait for a block. */
  readMempool(): Promise<readonly string[]>;
  /** Makes one block and answers its hash. */
  mine(): Promise<readonly string[]>;
  /** Those of a block, the miner's own first. */
  readTransactions(hash: string): Promise<readonly string[]>;
};

/** So many blocks, its own among them, settle a payment, however large it is. */
const confirmationBlocks = 6;

/** Makes a block at each call for as long as one of the newest holds a payment. */
export const createConfirmationMiner = (chain: MinableChain) => {
  let remainingBlocks = confirmationBlocks;
  return async (): Promise<void> => {
    if ((await chain.readMempool()).length > 0) remainingBlocks = confirmationBlocks;
    if (remainingBlocks === 0) return;
    const [hash] = await chain.mine();
    // A payment may have come since the look at those that wait.
    const hasPayment = hash !== undefined && (await chain.readTransactions(hash)).length > 1;
    remainingBlocks = (hasPayment ? confirmationBlocks : remainingBlocks) - 1;
  };
};
