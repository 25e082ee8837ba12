import * as z from "zod";
import { exportLimits } from "./exports.ts";
import { PageQuery } from "../payment-link.ts";
import { type Parser, dateTime, oneOf, parameter, text } from "../validation.ts";
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
      .meta({ description: "How the person had signed in, or tried to." }),
    targetId: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
    address: z.string().nullable().meta({ description: "From where a person did it." }),
    userAgent: z.string().nullable(),
    dateCreated: wireInstant,
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.output<typeof AuditEntry>;

const shortText = text({ lengthMin: 1, lengthMax: 64 });
const actionPattern = "^[a-z_]{1,40}(\\.[a-z_]{1,40})?$";

const action: Parser<string> = {
  schema: { type: "string", pattern: actionPattern },
  parse: (input) => {
    if (typeof input !== "string") return "string_type";
    return new RegExp(actionPattern).test(input) ? { value: input } : "string_pattern_mismatch";
  },
};

/** The filter of the audit log. Without parameters it matches every entry. */
const AuditFilter = z.object({
  action: parameter(action).describe("An action, or the kind of thing before its full stop."),
  actor: parameter(shortText).describe("A session's id, or a kind of actor."),
  target: parameter(shortText).describe("The id of the thing to which it was done."),
  from: parameter(dateTime).describe("The earliest time."),
  to: parameter(dateTime).describe("The first time that is too late."),
});
export type AuditFilter = z.output<typeof AuditFilter>;

/** The query parameters of the list. */
export const AuditQuery = z.object({ ...AuditFilter.shape, ...PageQuery.shape });

const auditFormats = ["csv", "jsonl"] as const;
/** The query parameters of the export. */
export const AuditExportQuery = z.object({
  ...AuditFilter.shape,
  format: parameter(oneOf(auditFormats)).describe("`csv` where nothing is said."),
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
    summary: "List what was done to the account, the newest first",
    query: AuditQuery,
    responses: { 200: pageOf(AuditEntry).meta({ id: "AuditPage" }) },
  },
  export: {
    method: "get",
    path: "/console/api/audit-log/export",
    caller: "session",
    tag: "Account",
    operationId: "exportAuditLog",
    summary: "Download what was done to the account, the newest first",
    description:
      "As CSV (RFC 4180, in UTF-8 with a byte order mark, and a header) or as JSON Lines, each line as an entry of the list. In CSV a text that " +
      "a spreadsheet would take for a formula has an apostrophe before it. " +
      exportLimits,
    query: AuditExportQuery,
    responses: { 200: null },
    mediaTypes: ["text/csv", "application/jsonl"],
    errors: ["AUDIT_LOG_TOO_LONG"],
  },
} as const satisfies Record<string, Operation>;
