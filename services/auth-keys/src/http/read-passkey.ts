import type { Request } from "express";
import { type PasskeyAnswer, hashSecret, refuse } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { relyingPartyId } from "../domain/passkey.ts";
import { type RelyingParty, challengeOf, judgeAssertion } from "../domain/webauthn.ts";
import { findPasskey, usePasskey } from "../store/passkeys.ts";
import { spendSignInAttempt } from "../store/sign-in-attempts.ts";
import { readBrowser } from "./sign-in-browser.ts";

/** The passkey that an answer proves, once its challenge is spent in the transaction that uses it. */
export type ProvenPasskey = {
  id: string;
  /** Answers whose account it is. */
  spend: (tx: Transaction) => Promise<string>;
};

/** Whom authenticators know us by. Throws SIGN_IN_METHOD_UNAVAILABLE where there are no passkeys. */
export const relyingPartyOf = ({ cookie: { origin } }: Pick<Deps, "cookie">): RelyingParty => {
  const rpId = relyingPartyId(origin);
  if (rpId === undefined) throw refuse("SIGN_IN_METHOD_UNAVAILABLE");
  return { origin, rpId };
};

/**
 * Checks a passkey's answer against every rule. It throws INVALID_PASSKEY, as does `spend` for a
 * challenge that is used, too old or another browser's, and for a counter that another answer reached
 * meanwhile. The log names the broken rule.
 */
export const readPasskey = async (
  deps: Deps,
  req: Request,
  answer: PasskeyAnswer,
): Promise<ProvenPasskey> => {
  const { clock, cookie, log, pool } = deps;
  const refuseBy = (rule: string) => {
    log.info({ method: "passkey", rule }, "a sign-in was refused");
    return refuse("INVALID_PASSKEY");
  };
  const challenge = challengeOf(answer.response.clientDataJSON);
  if (challenge === undefined) throw refuseBy("client data");
  const known = await findPasskey(pool, Buffer.from(answer.id, "base64url"));
  if (known === undefined) throw refuseBy("unknown");
  const judged = await judgeAssertion(answer, known, { ...relyingPartyOf(deps), challenge });
  if (typeof judged === "string") throw refuseBy(judged);
  const browserHash = hashSecret(readBrowser(req, cookie));
  const now = clock.now();
  const attempt = { hash: hashSecret(challenge), browserHash, method: "passkey", now } as const;
  return {
    id: known.id,
    spend: async (tx) => {
      const spent = await spendSignInAttempt(tx, attempt);
      // A challenge that was given to make a key signs nobody in.
      if (spent === undefined || spent.linkingSessionId !== null) throw refuseBy("challenge");
      const accountId = await usePasskey(tx, { id: known.id, counter: judged.counter, now });
      if (accountId === undefined) throw refuseBy("counter");
      return accountId;
    },
  };
};
