import type { Request, Response } from "express";
import type * as z from "zod";
import { SignInBody, hashSecret, createValidationError } from "@payment-links/contracts";
import { sendJson, readJsonBody, rejectCrossSiteRequest } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { serializeAccount } from "../domain/account.ts";
import { toEthereumIdentity } from "../domain/identity.ts";
import type { ClaimedAccount } from "../domain/rejected-sign-ins.ts";
import type { SignInMethod } from "../domain/session.ts";
import { parseClaimedSigner } from "../domain/siwe.ts";
import { lockAccount } from "../store/accounts.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";
import { type ProvenPasskey, verifyPasskey } from "./verify-passkey.ts";
import { verifySiweSignIn } from "./verify-siwe-sign-in.ts";
import { createLinkOwnerResolver } from "./renew-presence.ts";
import { type ResolveAccount, createIdentityResolver, countSignIn, signIn } from "./sign-in.ts";

/**
 * POST /console/api/session: starts a session with a sign-in link, a Sign-In with Ethereum message,
 * or a passkey's response to this browser's challenge.
 */
export const startSession = (dependencies: Dependencies) => async (req: Request, res: Response) => {
  rejectCrossSiteRequest(req, dependencies.cookie);
  const body = await readJsonBody(req, SignInBody);
  const method = getMethod(body);
  requireEnabledMethod(dependencies, method);
  const account = await countSignIn(
    dependencies,
    { req, method, claimedAccount: getClaimedAccount(body) },
    async () => {
      const resolveAccount = await createAccountResolver(dependencies, req, body);
      return signIn(dependencies, { req, res, method, resolveAccount });
    },
  );
  sendJson(res, 200, serializeAccount(account, dependencies.catalogue));
};

type SignInCredentials = z.output<typeof SignInBody>;

/** Returns the sign-in method of the given credentials. Throws the code `missing` if there are none. */
export const getMethod = ({ passkey, siwe, token }: SignInCredentials): SignInMethod => {
  if (passkey !== undefined) return "passkey";
  if (siwe !== undefined) return "siwe";
  if (token !== undefined) return "link";
  throw createValidationError("missing");
};

/** Returns the account that the credentials claim, before any verification. */
const getClaimedAccount = ({
  passkey,
  siwe,
  token,
}: SignInCredentials): ClaimedAccount | undefined => {
  if (passkey !== undefined) {
    return { by: "passkey", credentialId: Buffer.from(passkey.id, "base64url") };
  }
  if (siwe === undefined) return token === undefined ? undefined : getClaimedAccountOfLink(token);
  const claimedSigner = parseClaimedSigner(siwe.message);
  if (claimedSigner === undefined) return undefined;
  const { address: subject, chainId } = claimedSigner;
  const issuers = [undefined, chainId].map((id) => toEthereumIdentity(subject, id).issuer);
  return { by: "identity", method: "siwe", issuers, subject };
};

/**
 * Returns the claim of a sign-in link. A link identifies its account until its row is deleted, even
 * if the link has expired.
 */
export const getClaimedAccountOfLink = (token: string): ClaimedAccount => ({
  by: "link",
  hash: hashSecret(token),
});

const createAccountResolver = async (
  dependencies: Dependencies,
  req: Request,
  { passkey, siwe, token }: SignInCredentials,
): Promise<ResolveAccount> => {
  if (passkey !== undefined)
    return createPasskeyResolver(await verifyPasskey(dependencies, req, passkey));
  return siwe === undefined
    ? createLinkResolver(token ?? "")
    : createSiweResolver(dependencies, req, siwe);
};

const createPasskeyResolver =
  ({ id, consume }: ProvenPasskey): ResolveAccount =>
  async (tx) => ({ account: await lockAccount(tx, await consume(tx)), identityId: id });

/** Returns a resolver for the account of an operator's sign-in link, which it consumes. */
export const createLinkResolver =
  (token: string): ResolveAccount =>
  async (tx, { now }) => ({
    account: await lockAccount(tx, await createLinkOwnerResolver(token)(tx, now)),
  });

const createSiweResolver = async (
  dependencies: Dependencies,
  req: Request,
  siwe: { message: string; signature: string },
): Promise<ResolveAccount> => {
  const { identity, consume } = await verifySiweSignIn(dependencies, req, siwe);
  const resolveAccount = createIdentityResolver(dependencies, identity);
  return async (tx, sessionStart) => {
    await consume(tx);
    return resolveAccount(tx, sessionStart);
  };
};
