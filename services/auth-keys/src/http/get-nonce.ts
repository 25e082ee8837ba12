import type { Request, Response } from "express";
import { isEvmAddress, toEip55 } from "@payment-links/chains";
import { hashSecret, NonceQuery, createApiError } from "@payment-links/contracts";
import { sendJson, parseQuery, rejectCrossSiteRequest } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { generateNonce, nonceLifetimeMs } from "../domain/sign-in-attempt.ts";
import { getSignInChainIds, buildSiweMessage } from "../domain/siwe.ts";
import { insertSignInAttempt } from "../store/sign-in-attempts.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { setBrowserCookie } from "./sign-in-browser.ts";

/**
 * GET /console/api/session/nonce: returns a nonce for a Sign-In with Ethereum message. It is valid
 * once, for 5 minutes, in this browser. Each tab gets its own nonce. With `?address=`, the response
 * also contains the complete `message` to sign. The address can be in upper, lower or mixed case,
 * because wallets differ.
 */
export const getNonce = (dependencies: Dependencies) => {
  const [chainId] = getSignInChainIds(dependencies.catalogue);
  return async (req: Request, res: Response) => {
    rejectCrossSiteRequest(req, dependencies.cookie);
    const { address } = parseQuery(req, NonceQuery);
    requireEnabledMethod(dependencies, "siwe");
    if (chainId === undefined) throw new Error("the catalog has no EVM chain");
    const nonce = generateNonce();
    const now = dependencies.clock.now();
    const message =
      address === undefined
        ? undefined
        : buildSiweMessage({
            origin: dependencies.cookie.origin,
            chainId,
            address: parseAddress(address),
            nonce,
            now,
          });
    await insertSignInAttempt(dependencies.pool, {
      hash: hashSecret(nonce),
      browserHash: hashSecret(setBrowserCookie(req, res, dependencies.cookie)),
      method: "siwe",
      expiresAt: new Date(now.getTime() + nonceLifetimeMs),
    });
    sendJson(res, 200, { nonce, message });
  };
};

const parseAddress = (input: string): string => {
  if (!isEvmAddress(input)) throw createApiError("INVALID_WALLET_ADDRESS");
  return toEip55(input);
};
