import type { Actor } from "@payment-links/contracts";
import type { SignInMethod } from "./session.ts";

/**
 * The account that a sign-in claims, whether or not the claim is verified. An Ethereum address can
 * belong to identities of several issuers.
 */
export type ClaimedAccount =
  | { by: "account"; accountId: string }
  | { by: "link"; hash: Buffer }
  | { by: "passkey"; credentialId: Buffer }
  | { by: "identity"; method: "siwe" | "oidc"; issuers: readonly string[]; subject: string };

type Rejection = { at: Date; actor: Actor; reason: string };

/** What was attempted: the action, the method and the claimed account. */
type SignInAttempt = {
  action: "session.refused" | "session.presence_refused";
  method: SignInMethod;
  claimedAccount: ClaimedAccount;
};

/** The rejected attempts of one group: how many there were, the first ones, and the last one. */
export type RejectedAttempts = Omit<SignInAttempt, "claimedAccount"> & {
  count: number;
  firstRejections: readonly Rejection[];
  lastRejection: Rejection;
};
type ClaimedRejectedAttempts = RejectedAttempts & { claimedAccount: ClaimedAccount };

/** Collects rejected sign-ins until they are written. */
export type RejectedSignIns = {
  /**
   * Records one attempt. Above the limit, attempts of further groups are skipped until the next
   * write.
   */
  record(attempt: SignInAttempt & Rejection): void;
  /** Returns the collected attempts and clears them. */
  drain(): ClaimedRejectedAttempts[];
  /** Restores attempts that could not be written. */
  restore(attempts: readonly ClaimedRejectedAttempts[]): void;
};

/**
 * The first attempts of each group in an hour are logged individually. After that, only the 100th,
 * 1,000th, 10,000th and so on are logged.
 */
const reportAllMax = 10;

/**
 * Returns which of `count` additional attempts are logged. An attempt is identified by its number
 * within the hour.
 */
export const getReportedOrdinals = (previousCount: number, count: number): number[] => {
  const reportedOrdinals = [];
  for (let ordinal = 1; ordinal <= previousCount + count;) {
    if (ordinal > previousCount) reportedOrdinals.push(ordinal);
    ordinal = ordinal < reportAllMax ? ordinal + 1 : ordinal * 10;
  }
  return reportedOrdinals;
};

const groupsMaxDefault = 1_000;

/** Creates an empty collection of rejected sign-ins. */
export const createRejectedSignIns = (groupsMax: number = groupsMaxDefault): RejectedSignIns => {
  let attemptGroups = new Map<string, ClaimedRejectedAttempts>();
  const add = (attempts: ClaimedRejectedAttempts): void => {
    const { action, claimedAccount, count, firstRejections, lastRejection, method } = attempts;
    const groupKey = JSON.stringify([action, method, claimedAccount]);
    const existingGroup = attemptGroups.get(groupKey);
    if (existingGroup === undefined) {
      if (attemptGroups.size < groupsMax) attemptGroups.set(groupKey, attempts);
      return;
    }
    const allRejections = [...existingGroup.firstRejections, ...firstRejections].slice(
      0,
      reportAllMax,
    );
    attemptGroups.set(groupKey, {
      ...existingGroup,
      count: existingGroup.count + count,
      firstRejections: allRejections,
      lastRejection,
    });
  };
  return {
    record: ({ action, method, claimedAccount, ...rejection }) =>
      add({
        action,
        method,
        claimedAccount,
        count: 1,
        firstRejections: [rejection],
        lastRejection: rejection,
      }),
    drain: () => {
      const drainedGroups = attemptGroups;
      attemptGroups = new Map();
      return [...drainedGroups.values()];
    },
    restore: (attempts) => {
      for (const attemptGroup of attempts) add(attemptGroup);
    },
  };
};
