import * as z from "zod";
import { PageQuery } from "../payment-link.ts";
import { type Operation, pageOf, wireInstant } from "./operation.ts";

/** What was done to an account, as its owner sees it. */
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

/** What a signed-in person may read of what was done to the account. */
export const auditLogOperations = {
  list: {
    method: "get",
    path: "/console/api/audit-log",
    caller: "session",
    tag: "Account",
    operationId: "listAuditLog",
    summary: "List what was done to the account, the newest first",
    query: PageQuery,
    answers: { 200: pageOf(AuditEntry).meta({ id: "AuditPage" }) },
  },
} as const satisfies Record<string, Operation>;
