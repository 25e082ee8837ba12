import type { Actor } from "@payment-links/contracts";
import type { SignInMethod } from "./session.ts";

/** To whose account somebody's words lead, true or not. Several where an address may be two identities. */
export type ClaimedAccount =
  | { by: "account"; accountId: string }
  | { by: "link"; hash: Buffer }
  | { by: "passkey"; credentialId: Buffer }
  | { by: "identity"; method: "siwe" | "oidc"; issuers: readonly string[]; subject: string };

type Rejection = { at: Date; actor: Actor; reason: string };

/** What was tried in vain, to one account, in one way. */
type SignInAttempt = {
  action: "session.refused" | "session.presence_refused";
  method: SignInMethod;
  claimedAccount: ClaimedAccount;
};

/** Attempts of one kind: how many there were, the first of them, and the last one. */
export type RejectedAttempts = Omit<SignInAttempt, "claimedAccount"> & {
  count: number;
  firstRejections: readonly Rejection[];
  lastRejection: Rejection;
};
type ClaimedRejectedAttempts = RejectedAttempts & { claimedAccount: ClaimedAccount };

/** Remembers refused sign-ins until they are written down. */
export type RejectedSignIns = {
  /** Notes one. Above the limit a further kind of attempt is skipped until the next write. */
  record(attempt: SignInAttempt & Rejection): void;
  /** Hands over what is noted and forgets it. */
  drain(): ClaimedRejectedAttempts[];
  /** Takes back what could not be written. */
  restore(attempts: readonly ClaimedRejectedAttempts[]): void;
};

/** Of an hour's attempts of one kind the first ones stand in the log, and then those of a round number. */
const reportAllMax = 10;

/** Which of so many attempts more are told, by their numbers within the hour. */
export const getReportedOrdinals = (previousCount: number, count: number): number[] => {
  const reportedOrdinals = [];
  for (let ordinal = 1; ordinal <= previousCount + count;) {
    if (ordinal > previousCount) reportedOrdinals.push(ordinal);
    ordinal = ordinal < reportAllMax ? ordinal + 1 : ordinal * 10;
  }
  return reportedOrdinals;
};

const groupsMaxDefault = 1_000;

/** Makes an empty memory of refused sign-ins. */
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
