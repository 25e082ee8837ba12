import { type AuditEntry, idOfUuid } from "@payment-links/contracts";

type Place = { address: string | null; userAgent: string | null };

/** Who did it, and from where: an operator, a person by a session, or somebody not signed in. */
export type Actor = Place &
  (
    | { kind: "operator"; name: string | null }
    | { kind: "session"; id: string }
    | { kind: "visitor" | "scanner" | "service" }
  );

/** The service itself, which does what was put off. */
export const serviceActor: Actor = { kind: "service", address: null, userAgent: null };

/** What was done to an account, as the audit log has it. */
export type AuditRecord = {
  /** A UUID. */
  id: string;
  action: string;
  actorKind: string;
  actorId: string | null;
  targetId: string | null;
  detail: Record<string, unknown>;
  address: string | null;
  userAgent: string | null;
  occurredAt: Date;
};

/**
 * Shows an entry to the owner of the account. A session's id only names it; it cannot sign in. Where
 * an operator sits is not the owner's to know.
 */
export const showAuditRecord = (record: AuditRecord): AuditEntry => ({
  id: idOfUuid("aud", record.id),
  action: record.action,
  actor: { kind: record.actorKind, id: record.actorId },
  targetId: record.targetId,
  detail: record.detail,
  address: isPersons(record) ? record.address : null,
  userAgent: isPersons(record) ? record.userAgent : null,
  dateCreated: record.occurredAt.toISOString(),
});

const isPersons = ({ actorKind }: AuditRecord): boolean =>
  actorKind === "session" || actorKind === "visitor";
