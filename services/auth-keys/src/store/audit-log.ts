import * as z from "zod";
import { sql } from "slonik";
import { pageSize } from "@payment-links/contracts";
import { type Db, type Transaction, nothing } from "@payment-links/postgres";
import type { AuditRecord } from "../domain/audit.ts";
import type { SignInMethod } from "../domain/session.ts";

/** Who did it: an operator on the internal port, or a signed-in person by one of their sessions. */
type Actor = { kind: "operator" } | { kind: "session"; id: string };

type AuditEntry = {
  at: Date;
  accountId: string;
  actor: Actor;
  action:
    | "account.created"
    | "account.changed"
    | "account.suspended"
    | "account.resumed"
    | "account.credentials_revoked"
    | "wallet.added"
    | "wallet.changed"
    | "wallet.deleted"
    | "api_key.created"
    | "api_key.activated"
    | "api_key.deactivated"
    | "api_key.revoked"
    | "api_key.rotated"
    | "identity.linked"
    | "identity.unlinked"
    | "sign_in_link.made"
    | "session.started"
    | "session.ended"
    | "session.revoked";
  targetId?: string;
  /** What an auditor needs to understand the entry; never a secret. */
  detail?: Record<string, string | number | boolean | null | readonly string[]>;
};

/** Writes down what was done, in the transaction that does it. */
export const insertAudit = async (
  tx: Transaction,
  { at, accountId, actor, action, targetId, detail }: AuditEntry,
): Promise<void> => {
  await tx.query(nothing`
    INSERT INTO audit_log (
      occurred_at, account_id, actor_kind, actor_id, action, target_id, detail
    ) VALUES (
      ${sql.timestamp(at)}, ${accountId}, ${actor.kind},
      ${actor.kind === "session" ? actor.id : null}, ${action}, ${targetId ?? null},
      ${sql.jsonb(detail ?? {})}
    )
  `);
};

type SessionDeed = {
  id: string;
  accountId: string;
  action: "session.started" | "session.ended";
  detail?: { method: SignInMethod };
  now: Date;
};

/** Writes down that a person's own session began or ended. */
export const auditSession = (
  tx: Transaction,
  { id, accountId, action, detail, now }: SessionDeed,
): Promise<void> =>
  insertAudit(tx, {
    at: now,
    accountId,
    actor: { kind: "session", id },
    action,
    targetId: id,
    ...(detail === undefined ? {} : { detail }),
  });

const AuditRow = z.object({
  id: z.string(),
  action: z.string(),
  actorKind: z.string(),
  actorId: z.string().nullable(),
  targetId: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
  occurredAt: z.date(),
});

/** A page of what was done to an account, newest first, and one more where more follows. */
export const listAudit = (
  db: Db,
  { accountId, offset }: { accountId: string; offset: number },
): Promise<readonly AuditRecord[]> =>
  db.any(sql.type(AuditRow)`
    SELECT id, action, actor_kind AS "actorKind", actor_id AS "actorId",
      target_id AS "targetId", detail, occurred_at AS "occurredAt"
    FROM audit_log WHERE account_id = ${accountId}
    ORDER BY seq DESC LIMIT ${pageSize + 1} OFFSET ${offset}
  `);
