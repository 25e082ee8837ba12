/** The operations of a Bitcoin chain that the miner uses; hashes are in hex. */
type MinableChain = {
  /** Returns the unconfirmed transactions. */
  readMempool(): Promise<readonly string[]>;
  /** Mines one block and returns its hash. */
  mine(): Promise<readonly string[]>;
  /** Returns the transactions of a block, the coinbase transaction first. */
  readTransactions(hash: string): Promise<readonly string[]>;
};

/**
 * The number of blocks, including the payment's own block, after which a payment of any size is
 * settled.
 */
const confirmationBlocks = 6;

/**
 * Returns a function that mines a block if there is an unconfirmed payment, or a payment in one of
 * the newest blocks.
 */
export const createConfirmationMiner = (chain: MinableChain) => {
  let remainingBlocks = confirmationBlocks;
  return async (): Promise<void> => {
    if ((await chain.readMempool()).length > 0) remainingBlocks = confirmationBlocks;
    if (remainingBlocks === 0) return;
    const [hash] = await chain.mine();
    // A payment may have arrived after the mempool was read.
    const hasPayment = hash !== undefined && (await chain.readTransactions(hash)).length > 1;
    remainingBlocks = (hasPayment ? confirmationBlocks : remainingBlocks) - 1;
  };
};
