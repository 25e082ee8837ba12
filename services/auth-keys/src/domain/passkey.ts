import type { PasskeyCreationOptions, PasskeyData } from "@payment-links/contracts";

/** Passkeys that an account may have at once. */
export const passkeysMax = 10;

/** A challenge is good for as long as a nonce. */
export const challengeLifetimeMs = 5 * 60 * 1000;

/** A public key by which a person signs in. */
export type Passkey = {
  id: string;
  accountId: string;
  credentialId: Buffer;
  publicKey: Buffer;
  counter: number;
  name: string;
  dateCreated: Date;
  lastUsedAt: Date | null;
};

/**
 * By which name authenticators know us: the host that browsers use (WebAuthn §5.1.2). Undefined where
 * there can be no passkeys: an address is no such name, and a page must be secure.
 */
export const getRelyingPartyId = (origin: string): string | undefined => {
  const { hostname, protocol } = new URL(origin);
  const isSecure = protocol === "https:" || hostname === "localhost";
  // A URL's host that ends in a number is an IPv4 address, and one in brackets an IPv6 address.
  const isDomainName = !/(^|\.)\d+$|^\[/.test(hostname);
  return isSecure && isDomainName ? hostname : undefined;
};

/** What authenticators may sign with: Ed25519, ECDSA on P-256, RSA (IANA COSE algorithms). */
export const supportedAlgorithms = [-8, -7, -257];

type PasskeyCreationInput = {
  challenge: string;
  rpId: string;
  account: { id: string; handle: string | null; username: string };
  existingPasskeys: readonly Pick<Passkey, "credentialId">[];
};

/** What an authenticator is asked to make: a key that is found without a name, behind a PIN or a finger. */
export const buildPasskeyCreation = ({
  challenge,
  rpId,
  account,
  existingPasskeys,
}: PasskeyCreationInput): PasskeyCreationOptions => ({
  challenge,
  rp: { id: rpId, name: "Payment Links" },
  user: {
    id: Buffer.from(account.id).toString("base64url"),
    name: account.handle ?? account.username,
    displayName: account.username,
  },
  pubKeyCredParams: supportedAlgorithms.map((alg) => ({ type: "public-key", alg })),
  excludeCredentials: existingPasskeys.map(({ credentialId }) => ({
    type: "public-key",
    id: credentialId.toString("base64url"),
  })),
  authenticatorSelection: {
    residentKey: "required",
    requireResidentKey: true,
    userVerification: "required",
  },
  attestation: "none",
  timeout: challengeLifetimeMs,
});

/** Shows a passkey to its owner. */
export const serializePasskey = ({ id, name, dateCreated, lastUsedAt }: Passkey): PasskeyData => ({
  id,
  name,
  dateCreated: dateCreated.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});
