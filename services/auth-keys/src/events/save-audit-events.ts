import { onChunk } from "@payment-links/bus";
import { auditRecorded } from "@payment-links/contracts";
import { isOwnAuditEvent } from "../domain/audit.ts";
import { insertRecords } from "../store/audit-log.ts";

/**
 * Keeps what the other services tell of their deeds. Of this service's own, which come by too, nothing is
 * taken: whoever may write the topic must not be able to tell of a sign-in.
 */
export const saveAuditEvents = onChunk([auditRecorded], (tx, events) =>
  insertRecords(
    tx,
    events.map(({ data }) => data).filter((record) => !isOwnAuditEvent(record)),
  ),
);
