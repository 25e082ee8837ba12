import type { Client } from "pg";
import { call } from "../rig/client.ts";
import type { BenchSetup } from "./bench-setup.ts";

type AccountToFill = { apiKey: string; userId: string; count: number };

/**
 * Inserts copies of a link that was created through the API. The copies have the given status and
 * expiration.
 */
export const fillLinks = async (
  admin: Client,
  { ours }: { ours: Pick<BenchSetup["ours"], "baseUrl"> },
  { apiKey, userId, count }: AccountToFill,
  shape: { status: string; expires: string },
): Promise<void> => {
  const created = await call(`${ours.baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
    body: { toAmount: "25.5" },
  });
  const { rows } = await admin.query<{ names: string }>(`
    SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
    WHERE table_schema = 'links_api' AND table_name = 'links' AND is_identity = 'NO'
      AND column_name NOT IN ('id', 'status', 'expires_at', 'created_at', 'payment_reference')`);
  const names = rows[0]?.names ?? "";
  await admin.query(
    `INSERT INTO links_api.links (id, status, expires_at, created_at, payment_reference, ${names})
     SELECT 'plink_' || $2 || lpad(n::text, 12, '0'), ${shape.status}, ${shape.expires},
            created_at - n * interval '1 second', md5(id || n), ${names}
     FROM links_api.links, generate_series(1, ${count}) AS n WHERE id = $1`,
    [created.body["id"], userId.slice(-12)],
  );
};
