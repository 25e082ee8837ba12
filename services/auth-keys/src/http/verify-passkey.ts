import type { Request } from "express";
import { type PasskeyAssertion, hashSecret, createApiError } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { getRelyingPartyId } from "../domain/passkey.ts";
import { type RelyingParty, parseChallenge, verifyAssertion } from "../domain/webauthn.ts";
import { findPasskey, updatePasskeyCounter } from "../store/passkeys.ts";
import { consumeSignInAttempt } from "../store/sign-in-attempts.ts";
import { readBrowserToken } from "./sign-in-browser.ts";

/** The passkey that a response proves. The transaction that uses the proof must call `consume`. */
export type ProvenPasskey = {
  id: string;
  /** Consumes the challenge and returns the passkey's account. */
  consume: (tx: Transaction) => Promise<string>;
};

/**
 * Returns the relying party. Throws SIGN_IN_METHOD_UNAVAILABLE if passkeys cannot work at this
 * origin.
 */
export const getRelyingParty = ({
  cookie: { origin },
}: Pick<Dependencies, "cookie">): RelyingParty => {
  const rpId = getRelyingPartyId(origin);
  if (rpId === undefined) throw createApiError("SIGN_IN_METHOD_UNAVAILABLE");
  return { origin, rpId };
};

/**
 * Verifies a passkey's response against every rule. Throws INVALID_PASSKEY. The log names the
 * violated rule.
 *
 * `consume` also throws INVALID_PASSKEY if the challenge was used, has expired or belongs to
 * another browser, or if another response has raised the counter in the meantime.
 */
export const verifyPasskey = async (
  dependencies: Dependencies,
  req: Request,
  assertion: PasskeyAssertion,
): Promise<ProvenPasskey> => {
  const { clock, cookie, log, pool } = dependencies;
  const reject = (rule: string) => {
    log.info({ method: "passkey", rule }, "sign-in rejected");
    return createApiError("INVALID_PASSKEY");
  };
  const challenge = parseChallenge(assertion.response.clientDataJSON);
  if (challenge === undefined) throw reject("client data");
  const storedPasskey = await findPasskey(pool, Buffer.from(assertion.id, "base64url"));
  if (storedPasskey === undefined) throw reject("unknown");
  const verification = await verifyAssertion(assertion, storedPasskey, {
    ...getRelyingParty(dependencies),
    challenge,
  });
  if (typeof verification === "string") throw reject(verification);
  const browserHash = hashSecret(readBrowserToken(req, cookie));
  const now = clock.now();
  const attempt = { hash: hashSecret(challenge), browserHash, method: "passkey", now } as const;
  return {
    id: storedPasskey.id,
    consume: async (tx) => {
      const consumedAttempt = await consumeSignInAttempt(tx, attempt);
      // A challenge for a new passkey cannot be used to sign in.
      if (consumedAttempt === undefined || consumedAttempt.linkingSessionId !== null)
        throw reject("challenge");
      const accountId = await updatePasskeyCounter(tx, {
        id: storedPasskey.id,
        counter: verification.counter,
        now,
      });
      if (accountId === undefined) throw reject("counter");
      return accountId;
    },
  };
};
