import type { SessionData, signInMethods } from "@payment-links/contracts";

/**
 * The absolute timeout of a session, which applies even if the session is in use (rule CALLER-9).
 */
export const sessionLifetimeMs = 12 * 60 * 60 * 1000;

/** The idle timeout of a session. */
export const sessionIdleMs = 2 * 60 * 60 * 1000;

/** The maximum number of sessions per account. Another sign-in ends the oldest session. */
export const sessionsMax = 20;

/** How a user signed in. */
export type SignInMethod = (typeof signInMethods)[number];

/** A session as its user sees it. */
export type Session = {
  id: string;
  method: SignInMethod;
  dateCreated: Date;
  lastSeenAt: Date;
  expiresAt: Date;
  device: string | null;
};

/** Serializes a session for its user. `expiresAt` is its absolute expiry. */
export const serializeSession = (session: Session, currentId: string): SessionData => ({
  id: session.id,
  method: session.method,
  dateCreated: session.dateCreated.toISOString(),
  lastSeenAt: session.lastSeenAt.toISOString(),
  expiresAt: session.expiresAt.toISOString(),
  device: session.device,
  isCurrent: session.id === currentId,
});

type SessionTimes = { lastSeenAt: Date; expiresAt: Date };

/**
 * Returns when a session ends if it is used now. A use restarts the idle timeout of an active
 * session, but does not extend the absolute timeout.
 */
export const getSessionEnd = ({ lastSeenAt, expiresAt }: SessionTimes, now: Date): Date => {
  const idleExpiresAt = new Date(lastSeenAt.getTime() + sessionIdleMs);
  if (idleExpiresAt <= now) return getEarlier(idleExpiresAt, expiresAt);
  return getEarlier(new Date(now.getTime() + sessionIdleMs), expiresAt);
};

const getEarlier = (a: Date, b: Date): Date => (a < b ? a : b);
