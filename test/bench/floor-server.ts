import { createHash, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import express from "express";
import { Client, Pool } from "pg";
import * as z from "zod";
import { floorInsert, floorSelect, createInsertValues } from "./floor-statements.ts";

// The minimal server for the same calls with the same guarantees. It uses Express 5, zod, one
// prepared statement, a pool of the same size, and a relay that removes events from the outbox. It
// has no rate limits, logs, metrics or traces.
const { env } = process;
const pool = new Pool({ connectionString: env["LINKS_API_URL"], max: Number(env["CONNECTIONS"]) });
const app = express();
app.disable("x-powered-by");
app.disable("etag");

const OrderBody = z.strictObject({
  toAmount: z.string().regex(/^\d{1,30}(?:\.\d{1,18})?$/),
  description: z.string().max(500),
});

/** The hash of the first caller's API key, which becomes the only valid key. */
let keyHash: Buffer | undefined;
const isKnownKey = (key: string): boolean => {
  const hash = createHash("sha256").update(key).digest();
  keyHash ??= hash;
  return timingSafeEqual(hash, keyHash);
};

app.post("/v1/payment-link", express.json(), async (req, res) => {
  if (!isKnownKey(req.get("x-api-key") ?? "")) {
    res.status(401).end();
    return;
  }
  const order = OrderBody.safeParse(req.body);
  if (order.error !== undefined) {
    res.status(400).json(order.error.issues);
    return;
  }
  const values = createInsertValues(order.data);
  await pool.query({ name: "insert", text: floorInsert, values });
  const [id] = values;
  res.json({ id, url: `http://127.0.0.1/@bench/pay/${id}` });
});

app.get("/v1/payment-link/:id", async (req, res) => {
  const { rows } = await pool.query({ name: "select", text: floorSelect, values: [req.params.id] });
  res.json(rows[0]);
});

/**
 * Relays events like the product: reads a limited number of events in order and then deletes them.
 */
const relay = async (): Promise<never> => {
  const client = new Client({ connectionString: env["LINKS_API_URL"] });
  await client.connect();
  await client.query("SET synchronous_commit = off; SET enable_seqscan = off");
  for (;;) {
    const { rows } = await client.query({
      name: "claim",
      text: "SELECT seq, id, key, value FROM floor_outbox ORDER BY seq LIMIT 500",
    });
    const seqs = rows.map(({ seq }) => String(seq));
    const text = "DELETE FROM floor_outbox WHERE seq = ANY($1::bigint[])";
    if (seqs.length > 0) await client.query({ name: "delete", text, values: [seqs] });
    await sleep(20);
  }
};
void relay();

app.listen(Number(env["PORT"]), "127.0.0.1", () => process.stdout.write("listening\n"));
process.on("SIGTERM", () => process.exit(0));
