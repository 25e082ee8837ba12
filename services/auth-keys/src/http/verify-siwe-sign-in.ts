import type { Request } from "express";
import { hashSecret, createApiError } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { type ProvenIdentity, toEthereumIdentity } from "../domain/identity.ts";
import { getSignInChainIds, verifySiwe } from "../domain/siwe.ts";
import { consumeSignInAttempt } from "../store/sign-in-attempts.ts";
import { readBrowserToken } from "./sign-in-browser.ts";

type SignedSiwe = { message: string; signature: string };

/**
 * The identity that a message proves. The transaction that uses the proof must call `consume`,
 * which consumes the nonce.
 */
export type ProvenSiwe = {
  identity: ProvenIdentity;
  consume: (tx: Transaction) => Promise<void>;
};

/**
 * Verifies a signed message against every rule. Throws INVALID_SIWE_MESSAGE, or
 * SIWE_CHAIN_UNAVAILABLE if a contract cannot be queried. The log names the violated rule.
 *
 * `consume` throws INVALID_SIWE_MESSAGE if the nonce was used, has expired or belongs to another
 * browser.
 */
export const verifySiweSignIn = async (
  dependencies: Dependencies,
  req: Request,
  siwe: SignedSiwe,
): Promise<ProvenSiwe> => {
  const { catalogue, clock, cookie, log } = dependencies;
  const now = clock.now();
  const expectation = { origin: cookie.origin, chainIds: getSignInChainIds(catalogue), now };
  const proof = await verifySiwe(siwe, expectation, dependencies.verifyContractSignature);
  const reject = (rule: string) => {
    log.info({ method: "siwe", rule }, "sign-in rejected");
    return createApiError("INVALID_SIWE_MESSAGE");
  };
  if (typeof proof === "string") throw reject(proof);
  const browserHash = hashSecret(readBrowserToken(req, cookie));
  const attempt = { hash: hashSecret(proof.nonce), browserHash, method: "siwe", now } as const;
  return {
    identity: toEthereumIdentity(proof.address, proof.chainId),
    consume: async (tx) => {
      if ((await consumeSignInAttempt(tx, attempt)) === undefined) throw reject("nonce");
    },
  };
};
