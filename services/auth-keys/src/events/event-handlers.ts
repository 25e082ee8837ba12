import { type RegisteredHandler, onChunk } from "@payment-links/bus";
import { auditRecorded } from "@payment-links/contracts";
import { isOwnAuditEvent } from "../domain/audit.ts";
import { insertRecords } from "../store/audit-log.ts";

/**
 * Returns the handlers that store the audit events of other services. They ignore this service's own
 * events, which arrive on the same topic, so that a forged record cannot report a sign-in.
 */
export const createEventHandlers = (): readonly RegisteredHandler[] =>
  onChunk([auditRecorded], (tx, events) =>
    insertRecords(
      tx,
      events.map(({ data }) => data).filter((record) => !isOwnAuditEvent(record)),
    ),
  );
