import type { SessionData, signInMethods } from "@payment-links/contracts";

/** The absolute lifetime of a session, even if it is in use (rule CALLER-9). */
export const sessionLifetimeMs = 12 * 60 * 60 * 1000;

/** The idle time after which a session ends. */
export const sessionIdleMs = 2 * 60 * 60 * 1000;

/** The maximum number of sessions per account. A further sign-in ends the oldest one. */
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
};

/** Serializes a session for its user. `expiresAt` is its absolute end. */
export const serializeSession = (session: Session, currentId: string): SessionData => ({
  id: session.id,
  method: session.method,
  dateCreated: session.dateCreated.toISOString(),
  lastSeenAt: session.lastSeenAt.toISOString(),
  expiresAt: session.expiresAt.toISOString(),
  isCurrent: session.id === currentId,
});

type SessionTimes = { lastSeenAt: Date; expiresAt: Date };

/**
 * Returns when a session ends if it is used now. An active session gets the whole idle time again,
 * but never lives beyond its absolute end.
 */
export const getSessionEnd = ({ lastSeenAt, expiresAt }: SessionTimes, now: Date): Date => {
  const idleExpiresAt = new Date(lastSeenAt.getTime() + sessionIdleMs);
  if (idleExpiresAt <= now) return getEarlier(idleExpiresAt, expiresAt);
  return getEarlier(new Date(now.getTime() + sessionIdleMs), expiresAt);
};

const getEarlier = (a: Date, b: Date): Date => (a < b ? a : b);
