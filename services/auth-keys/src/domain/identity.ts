import type { IdentityData } from "@payment-links/contracts";

/** The maximum number of identities linked to an account. */
export const identitiesMax = 10;

/** The maximum length of a subject in ASCII characters (OpenID Connect Core §2). */
export const subjectCharsMax = 255;

const usernameCharsMax = 100;

/**
 * An identity that a user has proven with a wallet or at the identity provider. The issuer and the
 * subject identify it permanently.
 */
export type ProvenIdentity = {
  method: "siwe" | "oidc";
  issuer: string;
  subject: string;
  /** The initial username of an account created for this identity. */
  username: string;
};

/** Who signed in, and how long ago the user authenticated at the provider, if it reports that. */
export type OidcProof = { provenIdentity: ProvenIdentity; authenticationAgeMs: number | undefined };

/** Thrown if the identity is proven but the user is in none of the allowed groups. */
export class GroupNotAllowedError extends Error {
  override readonly name = "GroupNotAllowedError";
  readonly provenIdentity: ProvenIdentity;

  constructor(provenIdentity: ProvenIdentity) {
    super("the user is in none of the allowed groups");
    this.provenIdentity = provenIdentity;
  }
}

/** An identity that can sign in to an account. */
export type Identity = {
  id: string;
  accountId: string;
  method: "siwe" | "oidc";
  issuer: string;
  subject: string;
  dateCreated: Date;
};

/**
 * Returns the identity of an Ethereum address in EIP-55 form. Its issuer is the CAIP-2 namespace.
 * For a contract, the issuer is the chain, because the same address on another chain may belong to
 * someone else.
 */
export const toEthereumIdentity = (address: string, chainId?: string): ProvenIdentity => ({
  method: "siwe",
  issuer: chainId === undefined ? "eip155" : getContractIssuer(chainId),
  subject: address,
  username: `${address.slice(0, 6)}…${address.slice(-4)}`,
});

/**
 * Returns the identity of an OpenID Connect subject. Only the `name` claim becomes the username.
 * Other claims may hold an email address, and usernames are public.
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

/** Serializes an identity for its owner. */
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

/** Returns the issuer of a contract's identity: its chain. */
export const getContractIssuer = (chainId: string): string => `eip155:${chainId}`;

/** The issuers whose identities can sign in here. Ethereum keys can always sign in. */
export type ActiveIssuers = {
  oidcIssuer: string | undefined;
  /** {@link getContractIssuer} of each chain with an RPC provider. */
  contractIssuers: readonly string[];
};
