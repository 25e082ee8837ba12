import type { IdentityData } from "@payment-links/contracts";

/** Identities that an account may have linked at once. */
export const identitiesMax = 10;

/** A subject is at most so many ASCII characters (OpenID Connect Core §2). */
export const subjectCharsMax = 255;

const usernameCharsMax = 100;

/** Who a person has proven to be elsewhere. Issuer and subject name them for ever. */
export type ProvenIdentity = {
  method: "siwe" | "oidc";
  issuer: string;
  subject: string;
  /** What an account opened for them is called at first. */
  username: string;
};

/** Who signed in, and how long ago they did so at the provider, if it says. */
export type OidcProof = { provenIdentity: ProvenIdentity; authenticationAgeMs: number | undefined };

/** The person is in none of the groups that are allowed: who it is is proven all the same. */
export class GroupNotAllowedError extends Error {
  override readonly name = "GroupNotAllowedError";
  readonly provenIdentity: ProvenIdentity;

  constructor(provenIdentity: ProvenIdentity) {
    super("the person is in none of the groups that are allowed");
    this.provenIdentity = provenIdentity;
  }
}

/** An identity that signs in to an account. */
export type Identity = {
  id: string;
  accountId: string;
  method: "siwe" | "oidc";
  issuer: string;
  subject: string;
  dateCreated: Date;
};

/**
 * The identity behind an Ethereum address in EIP-55 form; its issuer is its CAIP-2 namespace. A contract's
 * is the chain itself: what is at the same address of another chain may be somebody else's.
 */
export const toEthereumIdentity = (address: string, chainId?: string): ProvenIdentity => ({
  method: "siwe",
  issuer: chainId === undefined ? "eip155" : getContractIssuer(chainId),
  subject: address,
  username: `${address.slice(0, 6)}…${address.slice(-4)}`,
});

/**
 * The identity behind an OpenID Connect subject. Only the `name` claim becomes a username: others
 * may hold a mail address, and a username is public.
 */
export const toOidcIdentity = (issuer: string, subject: string, name: unknown): ProvenIdentity => ({
  method: "oidc",
  issuer,
  subject,
  username: parseUsername(name) ?? "New account",
});

const parseUsername = (claim: unknown): string | undefined => {
  if (typeof claim !== "string" || !claim.isWellFormed()) return undefined;
  const username = [...claim.replaceAll(/\p{Cc}/gu, "").trim()].slice(0, usernameCharsMax).join("");
  return username === "" ? undefined : username;
};

/** Shows an identity to its owner. */
export const serializeIdentity = ({
  id,
  method,
  issuer,
  subject,
  dateCreated,
}: Identity): IdentityData => ({
  id,
  method,
  issuer,
  subject,
  dateCreated: dateCreated.toISOString(),
});

/** By whose word a contract's identity is known: that of its chain. */
export const getContractIssuer = (chainId: string): string => `eip155:${chainId}`;

/** By whom identities sign in here, beside keys, which sign in everywhere. */
export type ActiveIssuers = {
  oidcIssuer: string | undefined;
  /** {@link getContractIssuer} of each chain that can be asked. */
  contractIssuers: readonly string[];
};
