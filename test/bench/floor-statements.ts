import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { newId } from "@payment-links/contracts";

/**
 * The same single statement that the create call uses. It inserts the link into a table with the
 * same indexes, and the event into the baseline's own outbox.
 */
export const floorInsert = `
  WITH link AS (
    INSERT INTO links (
      id, user_id, version, status, to_amount, description, created_at, wallet_id,
      destination_address, token_id, chain_id, token_address, payment_reference
    ) VALUES ($1, $2, 1, 'active', $3, $4, now(), $5, $6, $7, $8, $9, $10)
  )
  INSERT INTO floor_outbox (id, topic, key, type, occurred_at, value)
  VALUES ($11, 'payment-links', $1, 'payment_link.created', now(), $12)`;

/** Creates the baseline's outbox. The baseline's relay empties it. */
export const createFloorOutbox = async (adminUrl: string): Promise<void> => {
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`
    CREATE TABLE links_api.floor_outbox (LIKE links_api.outbox INCLUDING ALL)
      WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
    GRANT ALL ON links_api.floor_outbox TO PUBLIC`);
  await admin.end();
};

/** The owner of the baseline's links. */
export const floorOwner = "user_floor";

/** Returns the values of {@link floorInsert}. */
export const createInsertValues = (order: { toAmount: string; description: string }): string[] => {
  const id = newId("plink");
  const destination = {
    walletId: "wallet_floor",
    destinationAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
    tokenId: "usdc-base",
    chainId: "8453",
    tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    paymentReference: randomBytes(16).toString("hex"),
  };
  const event = JSON.stringify({
    link: { id, userId: floorOwner, version: 1, status: "active", ...order, ...destination },
  });
  return [
    id,
    floorOwner,
    order.toAmount,
    order.description,
    ...Object.values(destination),
    newId("evt"),
    event,
  ];
};

/**
 * The same single query that the retrieve call uses. It returns the link's row with its owner's
 * profile.
 */
export const floorSelect = `
  SELECT links.*, accounts.profile FROM links JOIN accounts ON accounts.id = links.user_id
  WHERE links.id = $1`;
