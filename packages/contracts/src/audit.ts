import * as z from "zod";
import { Id, isId } from "./ids.ts";
import { Instant } from "./instant.ts";

/** Who can do what the audit log tells of. A visitor is nobody who is signed in. */
export const auditActorKinds = ["operator", "session", "visitor", "scanner", "service"] as const;

/**
 * What was done to an account, by whom and from where, as services and operators have it: one entry of
 * the audit log. No secret, no token, and nothing of a payer.
 */
export const AuditRecord = z.object({
  id: Id.refine((id) => isId("aud", id)),
  accountId: Id,
  at: Instant,
  /** The kind of thing, and what became of it. */
  action: z.string().regex(/^[a-z_]+\.[a-z_]+$/),
  actor: z.object({
    kind: z.enum(auditActorKinds),
    /** The session. It only names it and cannot sign in. */
    id: Id.nullable(),
    /** The name that an operator gave. */
    operator: z.string().nullable(),
  }),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  /** How the person signed in. */
  method: z.string().nullable(),
  targetId: Id.nullable(),
  detail: z.record(z.string(), z.unknown()),
});
export type AuditRecord = z.output<typeof AuditRecord>;

/** Who did something, how they had signed in, and from where. */
export type Actor = Pick<AuditRecord, "actor" | "address" | "userAgent" | "method">;
