import { type RegisteredHandler, onChunk } from "@payment-links/bus";
import { auditRecorded } from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import { isOwnAuditEvent } from "../domain/audit.ts";
import { insertRecords } from "../store/audit-log.ts";
import { createNotificationHandlers } from "./notification-handlers.ts";

/**
 * Returns the handlers that store the audit events of other services and queue emails. They ignore
 * this service's own audit events, which arrive on the same topic, so that a forged record cannot
 * report a sign-in.
 */
export const createEventHandlers = (
  dependencies: Pick<Dependencies, "catalogue" | "clock" | "sendEmail">,
): readonly RegisteredHandler[] => [
  ...onChunk([auditRecorded], (tx, events) =>
    insertRecords(
      tx,
      events.map(({ data }) => data).filter((record) => !isOwnAuditEvent(record)),
    ),
  ),
  ...createNotificationHandlers(dependencies),
];
