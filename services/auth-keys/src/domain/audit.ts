import type { Actor, AuditEntry, AuditRecord } from "@payment-links/contracts";

/** The service itself as the actor of scheduled work. */
export const serviceActor: Actor = {
  actor: { kind: "service", id: null, operator: null },
  address: null,
  userAgent: null,
  method: null,
};

/**
 * The resource types with which the names of this service's actions start. Other services must not
 * publish such actions.
 */
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
 * Returns whether an entry describes an action of this service. This service writes those entries
 * itself, so an event from another service that claims such an action is forged.
 */
export const isOwnAuditEvent = ({ action }: Pick<AuditRecord, "action">): boolean =>
  ownResourceTypes.has(action.slice(0, action.indexOf(".")));

/**
 * Serializes an entry for the account's owner. A session's id only identifies the session and
 * cannot be used to sign in. An operator's address and browser are hidden from the owner.
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
