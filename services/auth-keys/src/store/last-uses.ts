import { sql } from "slonik";
import { type Db, sqlVoid } from "@payment-links/postgres";
import type { CredentialUse } from "../domain/last-uses.ts";

/** The columns that store the last use of each kind of credential. */
const useColumns = {
  "api-key": { table: "api_keys", column: "last_used_at", addressColumn: "last_used_address" },
  session: { table: "sessions", column: "last_seen_at", addressColumn: undefined },
} as const;

/**
 * Updates when credentials of one kind were last used and, for API keys, the client address, in one
 * statement. Ignores a use that is older than the stored one. Locks rows in a fixed order, because
 * replicas write the same rows.
 */
export const saveLastUses = async (
  db: Db,
  kind: keyof typeof useColumns,
  uses: readonly CredentialUse[],
): Promise<void> => {
  if (uses.length === 0) return;
  const { addressColumn } = useColumns[kind];
  const table = sql.identifier([useColumns[kind].table]);
  const column = sql.identifier([useColumns[kind].column]);
  const setAddress =
    addressColumn === undefined
      ? sql.fragment``
      : sql.fragment`, ${sql.identifier([addressColumn])} = used.address`;
  // Takes `FOR NO KEY UPDATE`, the same lock as the update itself. A stronger lock would block a
  // concurrent rotation, which references a key's row.
  await db.query(sqlVoid`
    WITH used AS (
      SELECT * FROM ${sql.unnest(
        uses.map(({ id, at, address }) => [id, at.toISOString(), address]),
        ["text", "timestamptz", "text"],
      )} AS used (id, at, address)
    ), locked AS (
      SELECT c.id FROM ${table} c JOIN used ON used.id = c.id
      ORDER BY c.id FOR NO KEY UPDATE OF c
    )
    UPDATE ${table} c SET ${column} = used.at${setAddress}
    FROM used JOIN locked ON locked.id = used.id
    WHERE c.id = used.id AND (c.${column} IS NULL OR c.${column} < used.at)
  `);
};
