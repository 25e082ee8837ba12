import { randomBytes } from "node:crypto";
import express from "express";
import { Pool } from "pg";
import { newId } from "@payment-links/contracts";
import { floorInsert, floorSelect, insertValues } from "./floor-statements.ts";

// The least that answers the same calls: Express 5, one prepared statement and a pool of the same
// size; no log, no key, no limit, no event.
const { env } = process;
const pool = new Pool({ connectionString: env["LINKS_API_URL"], max: Number(env["CONNECTIONS"]) });
const app = express();
app.disable("x-powered-by");
app.disable("etag");

app.post("/v1/payment-link", express.json(), async (req, res) => {
  const id = newId("plink");
  const values = insertValues(id, String(req.body.toAmount), randomBytes(16).toString("hex"));
  await pool.query({ name: "insert", text: floorInsert, values });
  res.json({ id, url: `http://127.0.0.1/@bench/pay/${id}` });
});

app.get("/v1/payment-link/:id", async (req, res) => {
  const { rows } = await pool.query({ name: "select", text: floorSelect, values: [req.params.id] });
  res.json(rows[0]);
});

app.listen(Number(env["PORT"]), "127.0.0.1", () => process.stdout.write("listening\n"));
process.on("SIGTERM", () => process.exit(0));
