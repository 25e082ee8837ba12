import type { Request, Response } from "express";
import type * as z from "zod";
import { SignInBody, hashSecret, invalid } from "@payment-links/contracts";
import { answerJson, readBody, refuseOtherSites } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { showAccount } from "../domain/account.ts";
import { ethereumIdentity } from "../domain/identity.ts";
import type { Claim } from "../domain/refusals.ts";
import type { SignInMethod } from "../domain/session.ts";
import { namedSigner } from "../domain/siwe.ts";
import { lockAccount } from "../store/accounts.ts";
import { requireMethod } from "./list-sign-in-methods.ts";
import { type ProvenPasskey, readPasskey } from "./read-passkey.ts";
import { readSiwe } from "./read-siwe.ts";
import { ownerOfLink } from "./renew-presence.ts";
import { type WhoSignsIn, byIdentity, countSignIn, signIn } from "./sign-in.ts";

/**
 * POST /console/api/session: a one-time sign-in link, or a Sign-In with Ethereum message or a passkey's
 * answer to what this browser was given, becomes a session.
 */
export const startSession = (deps: Deps) => async (req: Request, res: Response) => {
  refuseOtherSites(req, deps.cookie);
  const given = await readBody(req, SignInBody);
  const method = methodOf(given);
  requireMethod(deps, method);
  const account = await countSignIn(deps, { req, method, claim: claimOf(given) }, async () => {
    const who = await whoSignsIn(deps, req, given);
    return signIn(deps, { req, res, method, who });
  });
  answerJson(res, 200, showAccount(account));
};

type Given = z.output<typeof SignInBody>;

/** By which method something given proves who somebody is. Throws the code `missing` for nothing. */
export const methodOf = ({ passkey, siwe, token }: Given): SignInMethod => {
  if (passkey !== undefined) return "passkey";
  if (siwe !== undefined) return "siwe";
  if (token !== undefined) return "link";
  throw invalid("missing");
};

/** To whose account something given leads, before anything of it is checked. */
const claimOf = ({ passkey, siwe, token }: Given): Claim | undefined => {
  if (passkey !== undefined) {
    return { by: "passkey", credentialId: Buffer.from(passkey.id, "base64url") };
  }
  if (siwe === undefined) return token === undefined ? undefined : claimOfLink(token);
  const signer = namedSigner(siwe.message);
  if (signer === undefined) return undefined;
  const { address: subject, chainId } = signer;
  const issuers = [undefined, chainId].map((id) => ethereumIdentity(subject, id).issuer);
  return { by: "identity", method: "siwe", issuers, subject };
};

/** A link leads to its account for as long as it is known, also past its end. */
export const claimOfLink = (token: string): Claim => ({ by: "link", hash: hashSecret(token) });

const whoSignsIn = async (
  deps: Deps,
  req: Request,
  { passkey, siwe, token }: Given,
): Promise<WhoSignsIn> => {
  if (passkey !== undefined) return byPasskey(await readPasskey(deps, req, passkey));
  return siwe === undefined ? byLink(token ?? "") : bySiwe(deps, req, siwe);
};

const byPasskey =
  ({ id, spend }: ProvenPasskey): WhoSignsIn =>
  async (tx) => ({ account: await lockAccount(tx, await spend(tx)), identityId: id });

/** The holder of an operator's one-time link, which is used up. */
export const byLink =
  (token: string): WhoSignsIn =>
  async (tx, { now }) => ({ account: await lockAccount(tx, await ownerOfLink(token)(tx, now)) });

const bySiwe = async (
  deps: Deps,
  req: Request,
  siwe: { message: string; signature: string },
): Promise<WhoSignsIn> => {
  const { identity, spend } = await readSiwe(deps, req, siwe);
  const who = byIdentity(deps, identity);
  return async (tx, beginning) => {
    await spend(tx);
    return who(tx, beginning);
  };
};
