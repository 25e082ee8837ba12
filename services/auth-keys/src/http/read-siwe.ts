import type { Request } from "express";
import { hashSecret, refuse } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { type ProvenIdentity, ethereumIdentity } from "../domain/identity.ts";
import { evmChainIds, judgeSiwe } from "../domain/siwe.ts";
import { spendSignInAttempt } from "../store/sign-in-attempts.ts";
import { readBrowser } from "./sign-in-browser.ts";

type Siwe = { message: string; signature: string };

/** The identity that a message proves, once its nonce is spent in the transaction that uses it. */
export type ProvenSiwe = {
  identity: ProvenIdentity;
  spend: (tx: Transaction) => Promise<void>;
};

/**
 * Checks a signed message against every rule. It throws SIWE_CHAIN_UNAVAILABLE where a contract cannot be
 * asked, and INVALID_SIWE_MESSAGE, as does `spend` for a
 * nonce that is used, too old or another browser's. The log names the broken rule.
 */
export const readSiwe = async (deps: Deps, req: Request, siwe: Siwe): Promise<ProvenSiwe> => {
  const { catalogue, clock, cookie, log } = deps;
  const now = clock.now();
  const expected = { origin: cookie.origin, chainIds: evmChainIds(catalogue), now };
  const proof = await judgeSiwe(siwe, expected, deps.isContractsOwn);
  const refuseBy = (rule: string) => {
    log.info({ method: "siwe", rule }, "a sign-in was refused");
    return refuse("INVALID_SIWE_MESSAGE");
  };
  if (typeof proof === "string") throw refuseBy(proof);
  const browserHash = hashSecret(readBrowser(req, cookie));
  const attempt = { hash: hashSecret(proof.nonce), browserHash, method: "siwe", now } as const;
  return {
    identity: ethereumIdentity(proof.address, proof.chainId),
    spend: async (tx) => {
      if ((await spendSignInAttempt(tx, attempt)) === undefined) throw refuseBy("nonce");
    },
  };
};
