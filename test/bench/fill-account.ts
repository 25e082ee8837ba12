import { Client } from "pg";
import type { ServiceName } from "@payment-links/deploy/ingress";

/** An account as the console created it: its user, a link and a webhook endpoint. */
export type CreatedAccount = { userId: string; linkId: string; endpointId: string };

type ServiceDatabases = { getAdminUrl(service: ServiceName): string };

const linkCount = 10_000;
const paymentCount = 1_000;
const logLineCount = 100_000;
/** The number of days that the logs cover. */
const dayCount = 30;

/**
 * Adds copies of an account's data: links, payments on its first link, and rows in both logs.
 * Returns the ID of the link in the middle of the account's list.
 */
export const fillAccount = async (
  system: ServiceDatabases,
  account: CreatedAccount,
): Promise<string> => {
  await withSchema(system, "links-api", "links_api", (client) =>
    fillLinksAndPayments(client, account),
  );
  await withSchema(system, "webhook-dispatcher", "webhook_dispatcher", (client) =>
    fillDeliveryLog(client, account),
  );
  await withSchema(system, "auth-keys", "auth_keys", (client) =>
    client.query(
      `INSERT INTO audit_log (occurred_at, account_id, actor_kind, action, detail, address)
       SELECT now() - n * interval '20 s', $1, 'session', 'api_key.changed', '{}', '192.0.2.1'
       FROM generate_series(${logLineCount}, 1, -1) AS n`,
      [account.userId],
    ),
  );
  return `${account.linkId.slice(0, 22)}${String(linkCount / 2).padStart(10, "0")}`;
};

const withSchema = async (
  system: ServiceDatabases,
  service: ServiceName,
  schema: string,
  fill: (client: Client) => Promise<unknown>,
): Promise<void> => {
  const client = new Client({ connectionString: system.getAdminUrl(service) });
  await client.connect();
  await client.query(`SET search_path = ${schema}`);
  await fill(client);
  await client.query("VACUUM ANALYZE");
  await client.end();
};

const fillLinksAndPayments = async (client: Client, { linkId }: CreatedAccount): Promise<void> => {
  const { rows } = await client.query<{ names: string }>(`
    SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
    WHERE table_schema = 'links_api' AND table_name = 'links' AND is_identity = 'NO'
      AND column_name NOT IN ('id', 'status', 'created_at', 'payment_reference', 'description')`);
  const names = rows[0]?.names ?? "";
  await client.query(
    `INSERT INTO links (id, status, created_at, payment_reference, description, ${names})
     SELECT left(id, 22) || lpad(n::text, 10, '0'),
       (ARRAY['active', 'completed', 'inactive'])[1 + n % 3], created_at - n * interval '1 minute',
       md5(id || n), 'Order ' || n, ${names}
     FROM links, generate_series(1, ${linkCount}) AS n WHERE id = $1`,
    [linkId],
  );
  // Every tenth payment arrived too late and was not applied.
  await client.query(
    `INSERT INTO payments (id, link_id, version, source, source_id, status, is_applied, reason,
       amount, token_address, chain_id, destination_address, source_transaction, occurred_at,
       first_seen_at, applied_at, ended_at)
     SELECT left('tx' || md5($1), 22) || lpad(n::text, 10, '0'), $1, 1, 'bench', $1 || n, 'settled',
       n % 10 > 0, CASE WHEN n % 10 = 0 THEN 'expired' END, 1, token_address, chain_id,
       destination_address, '0x' || md5(n::text), at, at, CASE WHEN n % 10 > 0 THEN at END, at
     FROM links, generate_series(1, ${paymentCount}) AS n,
       LATERAL (SELECT now() - n * interval '40 minutes' AS at) AS times
     WHERE links.id = $1`,
    [linkId],
  );
  await client.query(`UPDATE links SET received_amount = ${paymentCount * 0.9} WHERE id = $1`, [
    linkId,
  ]);
};

const fillDeliveryLog = async (client: Client, { linkId, endpointId }: CreatedAccount) => {
  await client.query(
    `SELECT keep_delivery_log((now() AT TIME ZONE 'UTC')::date - n, ${dayCount} + n)
     FROM generate_series(0, ${dayCount}) AS n`,
  );
  await client.query(
    `INSERT INTO delivery_log (id, event_id, endpoint_id, occurred_on, event_type, date_created,
       status, attempts, last_attempt_at, http_status, link_id, payment_id, duration_ms)
     SELECT left('whd' || md5($1), 22) || lpad(n::text, 10, '0'), $1 || n, $2,
       (at AT TIME ZONE 'UTC')::date,
       'payment_link.' || (ARRAY['completed', 'transaction.succeeded'])[1 + n % 2], at,
       (ARRAY['Failed', 'Delivered'])[1 + (n % 20 > 0)::int], 1, at, 200,
       CASE WHEN n <= ${paymentCount} THEN $1 ELSE $1 || n END, NULL, 12
     FROM generate_series(1, ${logLineCount}) AS n,
       LATERAL (SELECT now() - n * interval '25 s' AS at) AS times`,
    [linkId, endpointId],
  );
  await client.query(
    `INSERT INTO endpoint_hours (hour, endpoint_id, delivered, failed)
     SELECT date_trunc('hour', now()) - n * interval '1 hour', $1, 130, 7
     FROM generate_series(0, 24) AS n`,
    [endpointId],
  );
};
