import type { Actor, AuditEntry, AuditRecord } from "@payment-links/contracts";

/** The service itself, which does what was put off. */
export const serviceActor: Actor = {
  actor: { kind: "service", id: null, operator: null },
  address: null,
  userAgent: null,
  method: null,
};

/** What this service alone tells of: the kinds of thing with which its actions begin. */
const ownResourceTypes = new Set([
  "account",
  "api_key",
  "identity",
  "passkey",
  "session",
  "sign_in_link",
  "wallet",
]);

/**
 * Whether an entry is of this service's own deeds, which it writes down as it does them. What the
 * others tell never speaks of these.
 */
export const isOwnAuditEvent = ({ action }: Pick<AuditRecord, "action">): boolean =>
  ownResourceTypes.has(action.slice(0, action.indexOf(".")));

/**
 * Shows an entry to the owner of the account. A session's id only names it; it cannot sign in. Where
 * an operator sits is not the owner's to know.
 */
export const serializeAuditRecord = (record: Omit<AuditRecord, "accountId">): AuditEntry => {
  const { actor, address, at, userAgent, ...publicFields } = record;
  const isPersonActor = actor.kind === "session" || actor.kind === "visitor";
  return {
    id: publicFields.id,
    action: publicFields.action,
    actor: { kind: actor.kind, id: actor.id },
    method: publicFields.method,
    targetId: publicFields.targetId,
    detail: publicFields.detail,
    address: isPersonActor ? address : null,
    userAgent: isPersonActor ? userAgent : null,
    dateCreated: at.toISOString(),
  };
};
