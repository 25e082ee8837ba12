// Converts results of the EVM node to the fields and values of java-tron.

const zeros = (bytes: number): string => `0x${"00".repeat(bytes)}`;
const energyPrice = "0x64";

type Fields = Readonly<Record<string, unknown>>;

const pickFields = (source: Fields, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, source[name] ?? null]));

const logFields = [
  "address",
  "blockHash",
  "blockNumber",
  "blockTimestamp",
  "data",
  "logIndex",
  "removed",
  "topics",
  "transactionHash",
  "transactionIndex",
];

export const serializeLog = (log: unknown) => pickFields(log as Fields, logFields);

const transactionFields = [
  "blockHash",
  "blockNumber",
  "from",
  "gas",
  "hash",
  "input",
  "r",
  "s",
  "to",
  "transactionIndex",
  "v",
  "value",
];

/** Returns null for a transaction that is not in a block. */
export const serializeTransaction = (transaction: unknown) => {
  const fields = transaction as Fields | null;
  if (fields === null || fields["blockHash"] === null) return null;
  return {
    ...pickFields(fields, transactionFields),
    gasPrice: energyPrice,
    nonce: zeros(8),
    type: "0x0",
  };
};

const receiptFields = [
  "blockHash",
  "blockNumber",
  "contractAddress",
  "cumulativeGasUsed",
  "from",
  "gasUsed",
  "status",
  "to",
  "transactionHash",
  "transactionIndex",
];

export const serializeReceipt = (receipt: unknown) => {
  const fields = receipt as Fields | null;
  if (fields === null) return null;
  return {
    ...pickFields(fields, receiptFields),
    effectiveGasPrice: energyPrice,
    logs: (fields["logs"] as unknown[]).map(serializeLog),
    logsBloom: zeros(256),
    type: "0x0",
  };
};

const blockFields = [
  "gasLimit",
  "gasUsed",
  "hash",
  "miner",
  "number",
  "parentHash",
  "size",
  "timestamp",
  "transactionsRoot",
];

/** Serializes a block with either its transactions or their hashes. */
export const serializeBlock = (block: unknown) => {
  const fields = block as Fields | null;
  if (fields === null) return null;
  const transactions = fields["transactions"] as (Fields | string)[];
  return {
    ...pickFields(fields, blockFields),
    baseFeePerGas: "0x0",
    difficulty: "0x0",
    extraData: "0x",
    logsBloom: zeros(256),
    mixHash: zeros(32),
    nonce: zeros(8),
    receiptsRoot: zeros(32),
    sha3Uncles: zeros(32),
    stateRoot: "0x",
    totalDifficulty: "0x0",
    transactions: transactions.map((transaction) =>
      typeof transaction === "string" ? transaction : serializeTransaction(transaction),
    ),
    uncles: [],
  };
};
