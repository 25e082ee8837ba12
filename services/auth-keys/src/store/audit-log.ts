import * as z from "zod";
import { sql } from "slonik";
import { pageSize } from "@payment-links/contracts";
import { type Db, type Transaction, nothing } from "@payment-links/postgres";
import type { Actor, AuditRecord } from "../domain/audit.ts";

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
    | "wallet.default_scheduled"
    | "wallet.default_cancelled"
    | "api_key.created"
    | "api_key.activated"
    | "api_key.deactivated"
    | "api_key.limited"
    | "api_key.revoked"
    | "api_key.rotated"
    | "api_key.leaked"
    | "identity.linked"
    | "identity.unlinked"
    | "passkey.added"
    | "passkey.renamed"
    | "passkey.removed"
    | "sign_in_link.made"
    | "session.started"
    | "session.presence_proven"
    | "session.refused"
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
      occurred_at, account_id, actor_kind, actor_id, operator, address, user_agent, action,
      target_id, detail
    ) VALUES (
      ${sql.timestamp(at)}, ${accountId}, ${actor.kind},
      ${actor.kind === "session" ? actor.id : null},
      ${actor.kind === "operator" ? actor.name : null}, ${actor.address}, ${actor.userAgent},
      ${action}, ${targetId ?? null}, ${sql.jsonb(detail ?? {})}
    )
  `);
};

const AuditRow = z.object({
  id: z.string(),
  action: z.string(),
  actorKind: z.string(),
  actorId: z.string().nullable(),
  targetId: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  occurredAt: z.date(),
});

/** A page of what was done to an account, newest first, and one more where more follows. */
export const listAudit = (
  db: Db,
  { accountId, offset }: { accountId: string; offset: number },
): Promise<readonly AuditRecord[]> =>
  db.any(sql.type(AuditRow)`
    SELECT id, action, actor_kind AS "actorKind", actor_id AS "actorId",
      target_id AS "targetId", detail, address, user_agent AS "userAgent",
      occurred_at AS "occurredAt"
    FROM audit_log WHERE account_id = ${accountId}
    ORDER BY seq DESC LIMIT ${pageSize + 1} OFFSET ${offset}
  `);
