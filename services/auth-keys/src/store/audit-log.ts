import * as z from "zod";
import { type DatabaseTransactionConnection, sql } from "slonik";

const nothing = sql.type(z.object({}).strict());

/** Who did it: an operator on the internal port, or a signed-in person by one of their sessions. */
type Actor = { kind: "operator" } | { kind: "session"; id: string };

type AuditEntry = {
  at: Date;
  accountId: string;
  actor: Actor;
  action:
    | "account.created"
    | "account.changed"
    | "wallet.added"
    | "wallet.changed"
    | "wallet.deleted"
    | "api_key.created"
    | "api_key.activated"
    | "api_key.deactivated"
    | "api_key.revoked"
    | "sign_in_link.made"
    | "session.started"
    | "session.ended";
  targetId?: string;
  /** What an auditor needs to understand the deed; never a secret. */
  detail?: Record<string, string | boolean | null | readonly string[]>;
};

/** Writes down what was done, in the transaction that does it. */
export const insertAudit = async (
  tx: DatabaseTransactionConnection,
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
  now: Date;
};

/** Writes down that a session began or ended, by its own person. */
export const auditSession = (
  tx: DatabaseTransactionConnection,
  { id, accountId, action, now }: SessionDeed,
): Promise<void> =>
  insertAudit(tx, {
    at: now,
    accountId,
    actor: { kind: "session", id },
    action,
    targetId: id,
  });
