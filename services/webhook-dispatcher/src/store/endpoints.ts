import { type Db, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { Mode, createApiError } from "@payment-links/contracts";
import { type Endpoint, type EndpointOutcome, endpointsMax } from "../domain/endpoint.ts";
import type { EndpointHour } from "../domain/endpoint-hour.ts";
import type { SealedSecret } from "../domain/secret-keys.ts";

const EndpointRow = z.object({
  id: z.string(),
  url: z.string(),
  name: z.string(),
  mode: Mode,
  enabled: z.boolean(),
  secretPrefix: z.string(),
  dateCreated: z.date(),
  lastOutcome: z.enum(["Delivered", "Failed"]).nullable(),
  consecutiveFailures: z.int(),
});
const endpointRow = sql.type(EndpointRow);
const idRow = sql.type(z.object({ id: z.string() }));
const countRow = sql.type(z.object({ count: z.int() }));

const { columns: endpointColumns } = defineTable(EndpointRow);

/** Separates our advisory locks from those of other applications in the same database. */
const lockNamespace = 7_203;

/**
 * Waits for other changes to an account's endpoints, then locks the endpoints against changes until
 * the transaction ends. This enforces the limit of five endpoints under concurrency. It also
 * ensures that an endpoint stays enabled while events create deliveries for it.
 */
export const lockEndpoints = async (tx: Transaction, userId: string): Promise<void> => {
  await tx.query(sqlVoid`
    SELECT FROM pg_advisory_xact_lock(${lockNamespace}, hashtext(${userId}))
  `);
};

/**
 * Prevents changes to the accounts' endpoints until the transaction ends, without blocking others
 * that only need the same protection. Use it in a statement whose other parts do not read
 * endpoints. The fragment returns one row, which the statement must select.
 */
export const endpointsShareLock = (userIds: readonly string[]) => sql.fragment`
  SELECT count(*) FROM (
    SELECT pg_advisory_xact_lock_shared(${lockNamespace}, hashtext(id))
    FROM unnest(${sql.array([...userIds], "text")}) AS owner (id)
    OFFSET 0
  ) AS shared
`;

export type NewEndpoint = Pick<
  Endpoint,
  "id" | "url" | "name" | "mode" | "secretPrefix" | "dateCreated"
> &
  SealedSecret & { userId: string };

/**
 * Adds an endpoint. Requires {@link lockEndpoints}. Rejects it if the account already has the
 * maximum number in the endpoint's mode.
 */
export const insertEndpoint = async (tx: Transaction, endpoint: NewEndpoint): Promise<Endpoint> => {
  const { count } = await tx.one(countRow`
    SELECT count(*)::int AS count FROM endpoints
    WHERE user_id = ${endpoint.userId} AND mode = ${endpoint.mode} AND deleted_at IS NULL
  `);
  if (count >= endpointsMax) throw createApiError("WEBHOOK_ENDPOINT_LIMIT");
  return tx.one(endpointRow`
    INSERT INTO endpoints
      (id, user_id, url, name, mode, enabled, secret_prefix, sealed_secret, secret_key_name,
       date_created)
    VALUES
      (${endpoint.id}, ${endpoint.userId}, ${endpoint.url}, ${endpoint.name}, ${endpoint.mode}, true,
       ${endpoint.secretPrefix}, ${sql.binary(endpoint.sealed)}, ${endpoint.keyName},
       ${sql.timestamp(endpoint.dateCreated)})
    RETURNING ${endpointColumns}
  `);
};

/** Lists the account's endpoints of both modes without deleted ones, newest first. */
export const listEndpoints = (pool: Db, userId: string): Promise<readonly Endpoint[]> =>
  pool.any(endpointRow`
    SELECT ${endpointColumns} FROM endpoints
    WHERE user_id = ${userId} AND deleted_at IS NULL
    ORDER BY date_created DESC, id DESC
    LIMIT ${2 * endpointsMax}
  `);

type OwnedEndpointKey = { userId: string; id: string };

/**
 * Changes the fields of an endpoint that can be changed. A field stays unchanged if its value is
 * undefined. Returns null if there is no such endpoint.
 */
export const updateEndpoint = (
  tx: Transaction,
  { userId, id }: OwnedEndpointKey,
  changes: { name: string | undefined; enabled: boolean | undefined },
): Promise<Endpoint | null> =>
  tx.maybeOne(endpointRow`
    UPDATE endpoints
    SET name = COALESCE(${changes.name ?? null}, name),
        enabled = COALESCE(${changes.enabled ?? null}, enabled)
    WHERE id = ${id} AND user_id = ${userId} AND deleted_at IS NULL
    RETURNING ${endpointColumns}
  `);

/** Marks an endpoint as deleted. Returns whether it existed. */
export const deleteEndpoint = async (
  tx: Transaction,
  { userId, id }: OwnedEndpointKey,
  now: Date,
): Promise<boolean> => {
  const deletedRow = await tx.maybeOne(idRow`
    UPDATE endpoints SET deleted_at = ${sql.timestamp(now)}, enabled = false
    WHERE id = ${id} AND user_id = ${userId} AND deleted_at IS NULL
    RETURNING id
  `);
  return deletedRow !== null;
};

/**
 * Returns whether the account has or once had the endpoint. The log of a deleted endpoint can still
 * be read.
 */
export const hadEndpoint = (pool: Db, { userId, id }: OwnedEndpointKey): Promise<boolean> =>
  pool.exists(idRow`SELECT id FROM endpoints WHERE id = ${id} AND user_id = ${userId}`);

const EnabledEndpointRow = z.object({
  endpointId: z.string(),
  userId: z.string(),
  mode: Mode,
  origin: z.string(),
  dateCreated: z.date(),
});
const { columns: enabledColumns } = defineTable(EnabledEndpointRow, {
  expressions: { endpointId: sql.fragment`id` },
});

/**
 * Lists the enabled endpoints of the accounts, oldest first. They get the accounts' events.
 * Requires {@link endpointsShareLock}.
 */
export const listEnabledEndpoints = async (
  tx: Transaction,
  userIds: readonly string[],
): Promise<readonly z.output<typeof EnabledEndpointRow>[]> =>
  tx.any(sql.prepared("list_enabled_endpoints", EnabledEndpointRow)`
    SELECT ${enabledColumns} FROM endpoints
    WHERE user_id = ANY(${sql.array([...userIds], "text")}) AND deleted_at IS NULL AND enabled
    ORDER BY id
  `);

const TargetRow = z.object({
  id: z.string(),
  url: z.string(),
  sealed: z.instanceof(Buffer),
  keyName: z.string(),
});
const targetRow = sql.type(TargetRow);

/** An endpoint's URL and sealed secret. Neither ever changes. */
export type EndpointTarget = z.output<typeof TargetRow>;

/** Reads the targets of endpoints by their ids. */
export const findTargets = (pool: Db, ids: readonly string[]): Promise<readonly EndpointTarget[]> =>
  pool.any(targetRow`
    SELECT id, url, sealed_secret AS sealed, secret_key_name AS "keyName"
    FROM endpoints WHERE id = ANY(${sql.array([...ids], "text")})
  `);

const keyNameRow = sql.type(z.object({ keyName: z.string() }));

/** Lists the names of the keys that seal the secrets of endpoints in use. */
export const listSecretKeyNames = async (pool: Db): Promise<readonly string[]> => {
  const rows = await pool.any(keyNameRow`
    SELECT DISTINCT secret_key_name AS "keyName" FROM endpoints WHERE deleted_at IS NULL
  `);
  return rows.map((row) => row.keyName);
};

const SecretRow = TargetRow.omit({ url: true });
const secretRow = sql.type(SecretRow);

/** An endpoint's secret as it is stored. */
export type StoredSecret = z.output<typeof SecretRow>;

/**
 * Lists the secrets of endpoints in use that are encrypted with another key than the given one,
 * ordered by id. The list starts after `afterId`.
 */
export const listSecretsNotUnder = (
  pool: Db,
  keyName: string,
  { afterId, limit }: { afterId: string; limit: number },
): Promise<readonly StoredSecret[]> =>
  pool.any(secretRow`
    SELECT id, sealed_secret AS sealed, secret_key_name AS "keyName" FROM endpoints
    WHERE deleted_at IS NULL AND secret_key_name <> ${keyName} AND id > ${afterId}
    ORDER BY id LIMIT ${limit}
  `);

/**
 * Replaces secrets with newly encrypted ones. A secret stays unchanged if it was replaced after it
 * was read.
 */
export const replaceSecrets = async (
  pool: Db,
  secrets: readonly { read: StoredSecret; fresh: SealedSecret }[],
): Promise<number> => {
  const rows = secrets.map(({ read, fresh }) => [
    read.id,
    read.sealed,
    fresh.sealed,
    fresh.keyName,
  ]);
  const replaced = await pool.any(idRow`
    UPDATE endpoints SET sealed_secret = secret.fresh, secret_key_name = secret.key_name
    FROM ${sql.unnest(rows, ["text", "bytea", "bytea", "text"])}
      AS secret (id, read, fresh, key_name)
    WHERE endpoints.id = secret.id AND endpoints.sealed_secret = secret.read
    RETURNING endpoints.id
  `);
  return replaced.length;
};

/** The combined effect of several attempts on their endpoint. */
export type OutcomeRun = {
  endpointId: string;
  lastOutcome: EndpointOutcome;
  /**
   * The number of failures since the last success among these attempts, or of all failures if none
   * succeeded.
   */
  failures: number;
  hadSuccess: boolean;
};

const NewlyFailingRow = z.object({
  endpointId: z.string(),
  accountId: z.string(),
  name: z.string(),
});

/** An enabled live endpoint that had no failure since its last success, and now has one. */
export type NewlyFailingEndpoint = z.output<typeof NewlyFailingRow>;

/**
 * Records the results of the latest attempts per endpoint, and adds them to the hourly counts. Does
 * not update the endpoint's row if a success follows a success. Returns the live endpoints that
 * started to fail.
 */
export const recordOutcomes = async (
  tx: Transaction,
  { runs, hours }: { runs: readonly OutcomeRun[]; hours: readonly EndpointHour[] },
): Promise<readonly NewlyFailingEndpoint[]> => {
  if (runs.length === 0) return [];
  const runRows = runs.map((run) => [
    run.endpointId,
    run.lastOutcome,
    run.failures,
    run.hadSuccess,
  ]);
  const hourRows = hours.map((endpointHour) => [
    endpointHour.hour.toISOString(),
    endpointHour.endpointId,
    endpointHour.delivered,
    endpointHour.failed,
  ]);
  // Locks endpoints in the order of their ids, and then their hours. `counted` runs last because no
  // other part reads it. With another order, two writers could each wait for the other's lock.
  return tx.any(sql.prepared("record_outcomes", NewlyFailingRow)`
    WITH run AS (
      SELECT * FROM ${sql.unnest(runRows, ["text", "text", "int4", "bool"])}
        AS run (endpoint_id, last_outcome, failures, had_success)
    ), counted AS (
      INSERT INTO endpoint_hours AS kept (hour, endpoint_id, delivered, failed)
      SELECT hour, endpoint_id, delivered, failed
      FROM ${sql.unnest(hourRows, ["timestamptz", "text", "int4", "int4"])}
        AS incoming (hour, endpoint_id, delivered, failed)
      ORDER BY endpoint_id, hour
      ON CONFLICT (hour, endpoint_id) DO UPDATE
      SET delivered = kept.delivered + excluded.delivered, failed = kept.failed + excluded.failed
    ), locked AS (
      SELECT endpoints.id
      FROM endpoints JOIN run ON endpoints.id = run.endpoint_id
      WHERE endpoints.last_outcome IS DISTINCT FROM run.last_outcome OR run.failures > 0
      ORDER BY endpoints.id FOR NO KEY UPDATE OF endpoints
    ), updated AS (
      UPDATE endpoints
      SET last_outcome = run.last_outcome,
          consecutive_failures = run.failures
            + CASE WHEN run.had_success THEN 0 ELSE consecutive_failures END
      FROM run, locked
      WHERE endpoints.id = run.endpoint_id AND endpoints.id = locked.id
      RETURNING endpoints.id, user_id, name,
        mode = 'live' AND enabled AND deleted_at IS NULL AND run.failures > 0
          AND endpoints.consecutive_failures = run.failures AS is_newly_failing
    )
    SELECT id AS "endpointId", user_id AS "accountId", name FROM updated WHERE is_newly_failing
  `);
};
