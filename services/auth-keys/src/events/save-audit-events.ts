import { onChunk } from "@payment-links/bus";
import { auditRecorded } from "@payment-links/contracts";
import { isOwnAuditEvent } from "../domain/audit.ts";
import { insertRecords } from "../store/audit-log.ts";

/**
 * Stores the audit events of other services. Ignores this service's own events, which arrive on the
 * same topic, so that a forged record cannot report a sign-in.
 */
export const saveAuditEvents = onChunk([auditRecorded], (tx, events) =>
  insertRecords(
    tx,
    events.map(({ data }) => data).filter((record) => !isOwnAuditEvent(record)),
  ),
);
