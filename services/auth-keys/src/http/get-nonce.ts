import type { Request, Response } from "express";
import { hashSecret, NonceQuery, isEvmAddress, refuse, toEip55 } from "@payment-links/contracts";
import { answerJson, readQuery, refuseOtherSites } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { mintNonce, nonceLifeMs } from "../domain/sign-in-attempt.ts";
import { evmChainIds, writeSiwe } from "../domain/siwe.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { keepBrowser } from "./sign-in-browser.ts";

/**
 * GET /console/api/session/nonce: the nonce for a Sign-In with Ethereum message, good once, for
 * five minutes, in this browser. Each tab has its own. With `?address=` (in any case, as wallets
 * give it) the answer also holds the whole `message` to sign.
 */
export const getNonce = (deps: Deps) => {
  const [chainId] = evmChainIds(deps.catalogue);
  return async (req: Request, res: Response) => {
    refuseOtherSites(req, deps.cookie);
    const { address } = readQuery(req, NonceQuery);
    requireMethod(deps, "siwe");
    if (chainId === undefined) throw new Error("there is no EVM chain");
    const nonce = mintNonce();
    const now = deps.clock.now();
    const message =
      address === undefined
        ? undefined
        : writeSiwe({
            origin: deps.cookie.origin,
            chainId,
            address: readAddress(address),
            nonce,
            now,
          });
    await insertSignInAttempt(deps.pool, {
      hash: hashSecret(nonce),
      browserHash: hashSecret(keepBrowser(req, res, deps.cookie)),
      method: "siwe",
      expiresAt: new Date(now.getTime() + nonceLifeMs),
    });
    answerJson(res, 200, { nonce, message });
  };
};

const readAddress = (typed: string): string => {
  if (!isEvmAddress(typed)) throw refuse("INVALID_WALLET_ADDRESS");
  return toEip55(typed);
};
