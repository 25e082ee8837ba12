import {
  type Block,
  type CreateTransaction,
  type Output,
  type Mempool,
  type TransactionContent,
  type Transaction,
  emptyContent,
  listChainBlocks,
} from "./block.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/**
 * A node's mempool: the newest transaction that it has received, and whether it accepts
 * replacements.
 */
type MempoolView = { maxSequenceNumber: number; acceptsReplacement: () => boolean };

/** Bitcoin has no senders. */
const emptyFields = { ...emptyContent, from: "", nonce: 0 };

const fundingTransactions = 24;
const outputsPerFunding = 10;
const coinBaseUnits = 10_000_000_000;
const feeBaseUnits = 1_000;
/** The payers' own script. */
const changeScript = `0014${"c4".repeat(20)}`;

/**
 * Creates the Bitcoin mempool. If several transactions spend the same output, at most one of them
 * is mined, which is chosen at random. All of them stay known until one of them is final.
 */
export const createBitcoinMempool = (
  { count, random, trace }: SimulatedWorld,
  createTransaction: CreateTransaction,
) => {
  const initialTransactions = Array.from({ length: fundingTransactions }, (_, fundingIndex) =>
    createTransaction({
      ...emptyFields,
      inputs: [`${"00".repeat(31)}${String(fundingIndex + 1).padStart(2, "0")}:0`],
      outputs: Array.from({ length: outputsPerFunding }, () => ({
        baseUnits: coinBaseUnits,
        script: changeScript,
      })),
    }),
  );
  const unspentOutpoints = initialTransactions.flatMap(listOutpoints);
  const baseUnitsByOutpoint = new Map(
    unspentOutpoints.map((outpoint) => [outpoint, coinBaseUnits]),
  );
  /** The payers' unspent change outputs. */
  const changeOutpoints: string[] = [];
  /**
   * All transactions that were mined or can still be mined, in the order in which they were sent.
   */
  let knownTransactions: Transaction[] = [];
  const minedTransactions = new Set<Transaction>();
  /** Transactions that can never be mined, as final blocks prove. */
  const doubleSpentHashes = new Set<string>();
  let sentCount = 0;

  const selectSpendable = (
    tip: Block,
    candidates: readonly Transaction[],
    acceptsReplacement: () => boolean,
  ): readonly Transaction[] => {
    const { spentOutpoints, includedHashes } = readChain(tip);
    let selected: readonly Transaction[] = [];
    for (const transaction of candidates) {
      if (
        includedHashes.has(transaction.hash) ||
        transaction.inputs.some((input) => spentOutpoints.has(input))
      )
        continue;
      const conflicting = selected.filter((otherTransaction) =>
        areConflicting(transaction, otherTransaction),
      );
      const nonConflicting = excludeWithDescendants(selected, conflicting);
      const selectedHashes = new Set(nonConflicting.map(({ hash }) => hash));
      const isSpendable = transaction.inputs.every((input) => {
        const parent = getTransactionHash(input);
        return includedHashes.has(parent) || selectedHashes.has(parent);
      });
      if (!isSpendable || (conflicting.length > 0 && !acceptsReplacement())) continue;
      selected = [...nonConflicting, transaction];
    }
    return selected;
  };

  const listUnconfirmed = (
    tip: Block,
    { acceptsReplacement, maxSequenceNumber }: MempoolView,
  ): readonly Transaction[] =>
    selectSpendable(
      tip,
      knownTransactions.filter(({ sequenceNumber }) => sequenceNumber <= maxSequenceNumber),
      acceptsReplacement,
    );
  const listAllUnconfirmed = (tip: Block) =>
    listUnconfirmed(tip, { maxSequenceNumber: Infinity, acceptsReplacement: () => true });

  const takeOutpoint = (tip: Block): string => {
    const unconfirmedHashes = new Set(listAllUnconfirmed(tip).map(({ hash }) => hash));
    const { includedHashes } = readChain(tip);
    const spendableChange = changeOutpoints.filter(
      (changeOutpoint) =>
        includedHashes.has(getTransactionHash(changeOutpoint)) ||
        unconfirmedHashes.has(getTransactionHash(changeOutpoint)),
    );
    if (spendableChange.length > 0 && random.chance(0.3)) {
      const [outpoint = ""] = changeOutpoints.splice(
        changeOutpoints.indexOf(random.pick(spendableChange)),
        1,
      );
      if (unconfirmedHashes.has(getTransactionHash(outpoint)))
        count("coins spent before they were mined");
      return outpoint;
    }
    const outpoint = unspentOutpoints.shift();
    if (outpoint === undefined) throw new RangeError("payers have no more coins");
    return outpoint;
  };

  const spend = (
    inputs: readonly string[],
    { paddingBytes = 0, modelTransfers = [], outputs = [] }: TransactionContent,
  ): Transaction => {
    const sumAmounts = (amounts: readonly number[]) =>
      amounts.reduce((total, amount) => total + amount, 0);
    const inputBaseUnits = sumAmounts(inputs.map((input) => baseUnitsByOutpoint.get(input) ?? 0));
    sentCount += 1;
    // Makes the fee unique, so that otherwise identical transactions have different IDs.
    const fee = feeBaseUnits * (1 + random.below(9)) + sentCount;
    const changeBaseUnits =
      inputBaseUnits - sumAmounts(outputs.map(({ baseUnits }) => baseUnits)) - fee;
    const change: Output = { baseUnits: Math.max(0, changeBaseUnits), script: changeScript };
    const isChangeFirst = random.chance(0.5);
    const allOutputs = isChangeFirst ? [change, ...outputs] : [...outputs, change];
    const transaction = createTransaction({
      ...emptyFields,
      inputs,
      outputs: allOutputs,
      modelTransfers,
      paddingBytes,
    });
    const outpoint = listOutpoints(transaction)[isChangeFirst ? 0 : allOutputs.length - 1] ?? "";
    baseUnitsByOutpoint.set(outpoint, change.baseUnits);
    // Smaller outputs would not be sufficient for a payment.
    if (change.baseUnits > coinBaseUnits / 2) changeOutpoints.push(outpoint);
    knownTransactions.push(transaction);
    return transaction;
  };

  const selectInputs = (tip: Block): string[] =>
    Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => takeOutpoint(tip));

  /** Marks a transaction that will never be mined. `proof` is how the chain proves this. */
  const markFailed = (
    transaction: Transaction,
    proof: "double-spent input" | "double-spent ancestor" | "none",
  ): void => {
    if (proof !== "none") doubleSpentHashes.add(transaction.hash);
    const isUndecidable = proof === "none";
    const isOrphan = proof === "double-spent ancestor";
    for (const transfer of transaction.modelTransfers) {
      if (transfer.isFinal) transfer.isDoubtful = true;
      else Object.assign(transfer, { finalStatus: "failed", isUndecidable, isOrphan });
    }
  };

  /** Permanently drops a random transaction from all mempools. */
  const dropRandom = (tip: Block): void => {
    const unminedTransactions = listAllUnconfirmed(tip).filter(
      (transaction) => !minedTransactions.has(transaction),
    );
    if (unminedTransactions.length === 0) return;
    const dropped = random.pick(unminedTransactions);
    knownTransactions = knownTransactions.filter((transaction) => transaction !== dropped);
    markFailed(dropped, "none");
    trace("a transaction is dropped from all mempools");
    count("transactions dropped from all mempools");
  };

  const mempool: Mempool = {
    initialTransactions,
    send: (tip, _from, content) => spend(selectInputs(tip), content),
    takeForBlock: (tip) => {
      if (random.chance(0.02)) dropRandom(tip);
      const candidates = knownTransactions.filter(() => random.chance(0.5));
      // A miner can still have the first of two conflicting transactions.
      const selected = selectSpendable(tip, candidates, () => random.chance(0.85));
      for (const transaction of selected) minedTransactions.add(transaction);
      return selected;
    },
    onOrphaned: (orphanedTransactions) => {
      for (const transaction of orphanedTransactions) {
        for (const transfer of transaction.modelTransfers)
          if (transfer.isFinal) transfer.isMovedToLaterBlock = true;
        if (!random.chance(0.25)) continue;
        spend([random.pick(transaction.inputs)], {});
        count("double spends after a fork");
      }
    },
    isEmpty: (tip) => listAllUnconfirmed(tip).length === 0,
    onFinalized: (block) => {
      const { spentOutpoints, includedHashes } = readChain(block);
      const spendableHashes = new Set<string>();
      for (const transaction of knownTransactions) {
        const isSpent = transaction.inputs.some((input) => spentOutpoints.has(input));
        const parentHashes = transaction.inputs.map(getTransactionHash);
        const isOrphan = parentHashes.some(
          (hash) => !includedHashes.has(hash) && !spendableHashes.has(hash),
        );
        if (includedHashes.has(transaction.hash) || !(isSpent || isOrphan))
          spendableHashes.add(transaction.hash);
        else {
          const hasDoubleSpentParent = parentHashes.some((hash) => doubleSpentHashes.has(hash));
          markFailed(
            transaction,
            isSpent
              ? "double-spent input"
              : hasDoubleSpentParent
                ? "double-spent ancestor"
                : "none",
          );
          count(isSpent ? "transactions replaced" : "transactions without their parents");
        }
      }
      knownTransactions = knownTransactions.filter(({ hash }) => spendableHashes.has(hash));
    },
  };

  return {
    ...mempool,
    listUnconfirmed,
    listAllUnconfirmed,
    /** Sends another transaction that spends at least one of the same outputs. */
    replaceTransaction: (
      tip: Block,
      replacedTransaction: Transaction,
      content: TransactionContent,
    ): Transaction => {
      const sharedInputs = replacedTransaction.inputs.filter(() => random.chance(0.6));
      const inputs =
        sharedInputs.length === 0 ? replacedTransaction.inputs.slice(0, 1) : sharedInputs;
      return spend(random.chance(0.2) ? [...inputs, takeOutpoint(tip)] : inputs, content);
    },
  };
};

export type BitcoinMempool = ReturnType<typeof createBitcoinMempool>;

/** Returns the hash of the transaction that created the output. */
const getTransactionHash = (outpoint: string): string => outpoint.split(":")[0] ?? "";

const listOutpoints = ({ hash, outputs }: Pick<Transaction, "hash" | "outputs">): string[] =>
  outputs.map((_, index) => `${hash}:${index}`);

const areConflicting = (transaction: Transaction, otherTransaction: Transaction): boolean =>
  transaction.inputs.some((input) => otherTransaction.inputs.includes(input));

/** Removes the excluded transactions and all transactions that spend their outputs. */
const excludeWithDescendants = (
  transactions: readonly Transaction[],
  excluded: readonly Transaction[],
): readonly Transaction[] => {
  const removedHashes = new Set(excluded.map(({ hash }) => hash));
  return transactions.filter(({ hash, inputs }) => {
    if (inputs.some((input) => removedHashes.has(getTransactionHash(input))))
      removedHashes.add(hash);
    return !removedHashes.has(hash);
  });
};

/** Returns the hashes of a chain's transactions and the outputs that they spend. */
const readChain = (tip: Block) => {
  const transactions = listChainBlocks(tip).flatMap((block) => block.transactions);
  return {
    includedHashes: new Set(transactions.map(({ hash }) => hash)),
    spentOutpoints: new Set(transactions.flatMap(({ inputs }) => inputs)),
  };
};
