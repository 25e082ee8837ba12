import { type AuditEntry, idOfUuid } from "@payment-links/contracts";

/** What was done to an account, as the audit log has it. */
export type AuditRecord = {
  /** A UUID. */
  id: string;
  action: string;
  actorKind: string;
  actorId: string | null;
  targetId: string | null;
  detail: Record<string, unknown>;
  occurredAt: Date;
};

/** Shows an entry to the owner of the account. A session's id only names it; it cannot sign in. */
export const showAuditRecord = (record: AuditRecord): AuditEntry => ({
  id: idOfUuid("aud", record.id),
  action: record.action,
  actor: { kind: record.actorKind, id: record.actorId },
  targetId: record.targetId,
  detail: record.detail,
  dateCreated: record.occurredAt.toISOString(),
});
