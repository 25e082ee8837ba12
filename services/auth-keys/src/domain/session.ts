import type { SessionData, signInMethods } from "@payment-links/contracts";

/** A session ends so long after its sign-in, even if it is in use (rule CALLER-9). */
export const sessionLifetimeMs = 12 * 60 * 60 * 1000;

/** A session ends if it is not used for so long. */
export const sessionIdleMs = 2 * 60 * 60 * 1000;

/** Sessions that an account may have at once; a further sign-in ends the oldest. */
export const sessionsMax = 20;

/** How somebody signed in. */
export type SignInMethod = (typeof signInMethods)[number];

/** A session as its person sees it. */
export type Session = {
  id: string;
  method: SignInMethod;
  dateCreated: Date;
  lastSeenAt: Date;
  expiresAt: Date;
};

/** Shows a session to its person; `expiresAt` is its absolute end. */
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
 * When a session ends if somebody asks about it now. If it is alive, it lives for the whole idle
 * time again, but never beyond its absolute end.
 */
export const getSessionEnd = ({ lastSeenAt, expiresAt }: SessionTimes, now: Date): Date => {
  const idleExpiresAt = new Date(lastSeenAt.getTime() + sessionIdleMs);
  if (idleExpiresAt <= now) return getEarlier(idleExpiresAt, expiresAt);
  return getEarlier(new Date(now.getTime() + sessionIdleMs), expiresAt);
};

const getEarlier = (a: Date, b: Date): Date => (a < b ? a : b);
