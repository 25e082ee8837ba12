import { type AuditAction, type AuditRecord, auditRecorded, newId } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { type OutgoingEvent, createOutgoingEvent, publish } from "./outbox.ts";

/** An action on an account. The id is assigned when the event is published. */
export type AuditEvent = Omit<AuditRecord, "id" | "action" | "targetId" | "detail"> &
  Partial<Pick<AuditRecord, "targetId" | "detail">> & { action: AuditAction };

/** Creates the outgoing event of an audit log entry. The event and the entry have the same id. */
export const createAuditEvent = (auditEvent: AuditEvent): OutgoingEvent<typeof auditRecorded> => {
  const data = { targetId: null, detail: {}, ...auditEvent, id: newId("aud") };
  const { id, accountId: key, at: occurredAt } = data;
  return createOutgoingEvent(auditRecorded, { id, key, occurredAt, data });
};

/**
 * Publishes an audit event in the transaction that performs the action; auth-keys stores the audit
 * log. Returns the audit record.
 */
export const publishAuditEvent = async (tx: Db, auditEvent: AuditEvent): Promise<AuditRecord> => {
  const event = createAuditEvent(auditEvent);
  await publish(tx, [event]);
  return event.data;
};
