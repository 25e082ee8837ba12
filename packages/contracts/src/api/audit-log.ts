import * as z from "zod";
import { exportLimits } from "./exports.ts";
import { PageQuery } from "../payment-link.ts";
import { dateTime, formattedText, oneOf, parameter, text } from "../validation.ts";
import { type Operation, pageOf, wireInstant } from "./operation.ts";

/** An audit event as the account's owner sees it. */
export const AuditEntry = z
  .object({
    id: z.string(),
    action: z.string(),
    actor: z.object({ kind: z.string(), id: z.string().nullable() }),
    method: z
      .string()
      .nullable()
      .meta({ description: "The method of the sign-in or of the attempted sign-in." }),
    targetId: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
    address: z
      .string()
      .nullable()
      .meta({ description: "The IP address from which the action came." }),
    userAgent: z.string().nullable(),
    dateCreated: wireInstant,
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.output<typeof AuditEntry>;

const shortText = text({ lengthMin: 1, lengthMax: 64 });
const actionPattern = "^[a-z_]{1,40}(\\.[a-z_]{1,40})?$";

const action = formattedText({ pattern: actionPattern }, (input) =>
  new RegExp(actionPattern).test(input),
);

/** The filter of the audit log. Without parameters it matches every entry. */
const AuditFilter = z.object({
  action: parameter(action).describe(
    "An action such as `wallet.added`, or only its kind of object, such as `wallet`.",
  ),
  actor: parameter(shortText).describe("The id of a session, or a kind of actor."),
  target: parameter(shortText).describe("The id of the affected object."),
  from: parameter(dateTime).describe("Only entries at or after this time."),
  to: parameter(dateTime).describe("Only entries before this time."),
});
export type AuditFilter = z.output<typeof AuditFilter>;

/** The query parameters of the list. */
export const AuditQuery = z.object({ ...AuditFilter.shape, ...PageQuery.shape });

const auditFormats = ["csv", "jsonl"] as const;
/** The query parameters of the export. */
export const AuditExportQuery = z.object({
  ...AuditFilter.shape,
  format: parameter(oneOf(auditFormats)).describe("Defaults to `csv`."),
});

/** The maximum number of entries in an export. */
export const auditExportMax = 100_000;

/** The operations that read the signed-in user's audit log. */
export const auditLogOperations = {
  list: {
    method: "get",
    path: "/console/api/audit-log",
    caller: "session",
    tag: "Account",
    operationId: "listAuditLog",
    summary: "List the account's audit log, newest first",
    query: AuditQuery,
    responses: { 200: pageOf(AuditEntry).meta({ id: "AuditPage" }) },
  },
  export: {
    method: "get",
    path: "/console/api/audit-log/export",
    caller: "session",
    tag: "Account",
    operationId: "exportAuditLog",
    summary: "Export the account's audit log, newest first",
    description:
      "CSV (RFC 4180) in UTF-8 with a byte order mark and a header row, or JSON Lines with one list entry per line. " +
      "In CSV, a text that a spreadsheet would treat as a formula is prefixed with an apostrophe. " +
      exportLimits,
    query: AuditExportQuery,
    responses: { 200: null },
    mediaTypes: ["text/csv", "application/jsonl"],
    errors: ["AUDIT_LOG_TOO_LONG"],
  },
} as const satisfies Record<string, Operation>;
