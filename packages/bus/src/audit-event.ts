import { type AuditAction, type AuditRecord, auditRecorded, newId } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";
import { type OutgoingEvent, createOutgoingEvent, publish } from "./outbox.ts";

/** What was done to an account; it gets an id when it is told. */
export type AuditEvent = Omit<AuditRecord, "id" | "action" | "targetId" | "detail"> &
  Partial<Pick<AuditRecord, "targetId" | "detail">> & { action: AuditAction };

/** An entry of the audit log as an event, which has the entry's id. */
export const createAuditEvent = (auditEvent: AuditEvent): OutgoingEvent<typeof auditRecorded> => {
  const data = { targetId: null, detail: {}, ...auditEvent, id: newId("aud") };
  const { id, accountId: key, at: occurredAt } = data;
  return createOutgoingEvent(auditRecorded, { id, key, occurredAt, data });
};

/**
 * Tells what was done to an account, in the transaction that does it; auth-keys keeps the log. Answers
 * the entry.
 */
export const publishAuditEvent = async (tx: Db, auditEvent: AuditEvent): Promise<AuditRecord> => {
  const event = createAuditEvent(auditEvent);
  await publish(tx, [event]);
  return event.data;
};
