import * as z from "zod";
import { Id, isId } from "./ids.ts";
import { Instant } from "./instant.ts";

/** Who can cause an audit event. A visitor is not signed in. */
export const auditActorKinds = ["operator", "session", "visitor", "scanner", "service"] as const;

/**
 * The actions that services publish: the kind of object, and what happened to it. Consumers also
 * accept other actions.
 */
export const auditActions = [
  "account.created",
  "account.changed",
  "account.suspended",
  "account.resumed",
  "account.verified",
  "account.unverified",
  "account.credentials_revoked",
  "account.email_requested",
  "account.email_confirmed",
  "account.email_removed",
  "account.notifications_changed",
  "wallet.added",
  "wallet.changed",
  "wallet.deleted",
  "wallet.default_scheduled",
  "wallet.default_cancelled",
  "api_key.created",
  "api_key.activated",
  "api_key.deactivated",
  "api_key.limited",
  "api_key.revoked",
  "api_key.rotated",
  "api_key.leaked",
  "identity.linked",
  "identity.unlinked",
  "passkey.added",
  "passkey.renamed",
  "passkey.removed",
  "sign_in_link.made",
  "session.started",
  "session.presence_proven",
  "session.presence_refused",
  "session.refused",
  "session.ended",
  "session.revoked",
  "command_sign_in.allowed",
  "command_sign_in.denied",
  "payment_link.created",
  "payment_link.deactivated",
  "payment_link.refund_recorded",
  "deposit.assigned",
  "deposit.dismissed",
  "webhook_endpoint.added",
  "webhook_endpoint.changed",
  "webhook_endpoint.deleted",
  "webhook_endpoint.secret_shown",
] as const;
export type AuditAction = (typeof auditActions)[number];

/**
 * An audit event as services and operators see it: what happened to an account, who did it and from
 * where. It contains no secret, no token and nothing about a payer.
 */
export const AuditRecord = z.object({
  id: Id.refine((id) => isId("aud", id)),
  accountId: Id,
  at: Instant,
  action: z.string().regex(/^[a-z_]+\.[a-z_]+$/),
  actor: z.object({
    kind: z.enum(auditActorKinds),
    /** The session's id, which identifies the session but cannot sign in. */
    id: Id.nullable(),
    /** The operator's name, as the operator entered it. */
    operator: z.string().nullable(),
  }),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  /** How the user signed in. */
  method: z.string().nullable(),
  targetId: Id.nullable(),
  detail: z.record(z.string(), z.unknown()),
});
export type AuditRecord = z.output<typeof AuditRecord>;

/** Who did something, how they signed in, and from where. */
export type Actor = Pick<AuditRecord, "actor" | "address" | "userAgent" | "method">;
