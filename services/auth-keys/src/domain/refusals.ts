import type { Actor } from "@payment-links/contracts";
import type { SignInMethod } from "./session.ts";

/** To whose account somebody's words lead, true or not. Several where an address may be two identities. */
export type Claim =
  | { by: "account"; accountId: string }
  | { by: "link"; hash: Buffer }
  | { by: "passkey"; credentialId: Buffer }
  | { by: "identity"; method: "siwe" | "oidc"; issuers: readonly string[]; subject: string };

type Refusal = { at: Date; actor: Actor; reason: string };

/** What was tried in vain, to one account, in one way. */
type Attempt = {
  action: "session.refused" | "session.presence_refused";
  method: SignInMethod;
  claim: Claim;
};

/** Attempts of one kind: how many there were, the first of them, and the last one. */
export type RefusedAttempts = Omit<Attempt, "claim"> & {
  count: number;
  first: readonly Refusal[];
  last: Refusal;
};
type ClaimedAttempts = RefusedAttempts & { claim: Claim };

/** Remembers refused sign-ins until they are written down. */
export type Refusals = {
  /** Notes one. Above the limit a further kind of attempt is skipped until the next write. */
  note(refused: Attempt & Refusal): void;
  /** Hands over what is noted and forgets it. */
  take(): ClaimedAttempts[];
  /** Takes back what could not be written. */
  putBack(attempts: readonly ClaimedAttempts[]): void;
};

/** Of an hour's attempts of one kind the first ones stand in the log, and then those of a round number. */
const toldAllMax = 10;

/** Which of so many attempts more are told, by their numbers within the hour. */
export const toldOrdinals = (before: number, count: number): number[] => {
  const told = [];
  for (let ordinal = 1; ordinal <= before + count;) {
    if (ordinal > before) told.push(ordinal);
    ordinal = ordinal < toldAllMax ? ordinal + 1 : ordinal * 10;
  }
  return told;
};

const kindsMaxDefault = 1_000;

/** Makes an empty memory of refused sign-ins. */
export const createRefusals = (kindsMax: number = kindsMaxDefault): Refusals => {
  let kinds = new Map<string, ClaimedAttempts>();
  const add = (attempts: ClaimedAttempts): void => {
    const { action, claim, count, first, last, method } = attempts;
    const kind = JSON.stringify([action, method, claim]);
    const known = kinds.get(kind);
    if (known === undefined) {
      if (kinds.size < kindsMax) kinds.set(kind, attempts);
      return;
    }
    const all = [...known.first, ...first].slice(0, toldAllMax);
    kinds.set(kind, { ...known, count: known.count + count, first: all, last });
  };
  return {
    note: ({ action, method, claim, ...refusal }) =>
      add({ action, method, claim, count: 1, first: [refusal], last: refusal }),
    take: () => {
      const taken = kinds;
      kinds = new Map();
      return [...taken.values()];
    },
    putBack: (attempts) => {
      for (const one of attempts) add(one);
    },
  };
};
