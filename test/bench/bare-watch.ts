import { Client } from "pg";
import { newId } from "@payment-links/contracts";
import { fetchPayments } from "@payment-links/settlement-listener/testing/fetch-payments";

type FetchedRange = Awaited<ReturnType<ReturnType<typeof fetchPayments>["next"]>>["value"] & object;
type Row = readonly (string | number | null | undefined)[];

/** Builds a query that reads rows from a JSON document, with one column for each type. */
const rowsFromDocument = (...types: string[]): string => {
  const columns = types.map((type, index) => `(row ->> ${index})::${type}`);
  return `SELECT ${columns.join(", ")} FROM jsonb_array_elements($1::jsonb) AS row`;
};

const statements = {
  move: "UPDATE watchers SET scanned_to = $2, finalized_to = $2 WHERE chain_id = $1",
  find: `SELECT payment_reference_hash AS hash, id FROM links
    WHERE payment_reference_hash = ANY ($1::text[])`,
  transfers: `INSERT INTO chain_transfers (chain_id, transaction_hash, ordinal, block_number,
      block_hash, occurred_at, reference_hash, token_address, destination_address, amount, sender,
      payment_link_id, seen_at)
    ${rowsFromDocument("text", "text", "int", "int8", "text", "timestamptz", "text", "text", "text", "numeric", "text", "text", "timestamptz")}`,
  payments: `INSERT INTO payments (source, source_id, id, version, payment_link_id, status, amount,
      token_address, chain_id, destination_address, source_transaction, occurred_at, first_seen_at,
      block_number)
    ${rowsFromDocument("text", "text", "text", "int", "text", "text", "numeric", "text", "text", "text", "text", "timestamptz", "timestamptz", "int8")}`,
  events: `INSERT INTO outbox (id, topic, key, type, occurred_at, value)
    ${rowsFromDocument("text", "text", "text", "text", "timestamptz", "text")}`,
};

/**
 * A chain watcher that uses bare clients. It writes the same rows for settled payments as the
 * product's watcher, in the same number of transactions, and it also reads ahead. It has no lease,
 * does not query a second node, does not verify payments, and would store a payment twice. Each
 * statement takes a list of columns, because a document with named fields takes a sixth longer.
 */
export const connectBareWatch = async (databaseUrl: string) => {
  const client = new Client({
    connectionString: databaseUrl,
    options: "-c search_path=settlement_listener",
  });
  await client.connect();
  const run = (name: keyof typeof statements, values: unknown[]) =>
    client.query<{ hash: string; id: string }>({ name, text: statements[name], values });
  const insert = (name: keyof typeof statements, rows: readonly Row[]) =>
    run(name, [JSON.stringify(rows)]);

  const storeRange = async (
    chainId: string,
    { lastBlock, logs, receipts }: FetchedRange,
  ): Promise<void> => {
    await client.query("BEGIN");
    await run("move", [chainId, lastBlock]);
    const foundLinks = await run("find", [logs.map(({ topics }) => topics[1])]);
    const links = new Map(foundLinks.rows.map(({ hash, id }) => [hash, id]));
    const senders = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt.from]));
    const now = new Date().toISOString();
    const source = `evm:${chainId}`;
    const payments = logs.map(({ args, topics, transactionHash, ...log }) => {
      const linkId = links.get(topics[1]);
      const [seconds, block] = [Number(log.blockTimestamp), Number(log.blockNumber)];
      return {
        id: newId("tx"),
        linkId,
        transactionHash,
        sourceId: `${transactionHash}:${linkId}:0`,
        block,
        blockHash: log.blockHash,
        minedAt: new Date(seconds * 1000).toISOString(),
        referenceHash: topics[1],
        token: "tokenAddress" in args ? args.tokenAddress : log.address,
        to: args.to,
        amount: String(args.amount),
        sender: senders.get(transactionHash),
      };
    });
    await insert(
      "transfers",
      payments.map((payment) => [
        chainId,
        payment.transactionHash,
        0,
        payment.block,
        payment.blockHash,
        payment.minedAt,
        payment.referenceHash,
        payment.token,
        payment.to,
        payment.amount,
        payment.sender,
        payment.linkId,
        now,
      ]),
    );
    await insert(
      "payments",
      payments.map((payment) => [
        source,
        payment.sourceId,
        payment.id,
        1,
        payment.linkId,
        "settled",
        payment.amount,
        payment.token,
        chainId,
        payment.to,
        payment.transactionHash,
        payment.minedAt,
        now,
        payment.block,
      ]),
    );
    await insert(
      "events",
      payments.map(({ linkId, ...payment }) => [
        newId("evt"),
        "settlements",
        linkId,
        "settlement.settled",
        now,
        JSON.stringify({ payment: { source, linkId, status: "settled", ...payment } }),
      ]),
    );
    await client.query("COMMIT");
  };

  return {
    /**
     * Scans a chain from its first block. Reads the next block range while it writes the current
     * one.
     */
    catchUp: async (chainId: string, range: Parameters<typeof fetchPayments>[0]): Promise<void> => {
      const ranges = fetchPayments(range);
      let nextRange = ranges.next();
      for (
        let currentRange = await nextRange;
        currentRange.done !== true;
        currentRange = await nextRange
      ) {
        nextRange = ranges.next();
        await storeRange(chainId, currentRange.value);
      }
    },
    close: () => client.end(),
  };
};
