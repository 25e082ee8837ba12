import type { PasskeyCreationOptions, PasskeyData } from "@payment-links/contracts";

/** The maximum number of passkeys per account. */
export const passkeysMax = 10;

/** A challenge has the same lifetime as a Sign-In with Ethereum nonce. */
export const challengeLifetimeMs = 5 * 60 * 1000;

/** A public key with which a user signs in. */
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
 * Returns the relying party id: the host that browsers use (WebAuthn §5.1.2). Returns undefined if
 * passkeys cannot work at this origin, because the host is an IP address or the page is not a
 * secure context.
 */
export const getRelyingPartyId = (origin: string): string | undefined => {
  const { hostname, protocol } = new URL(origin);
  const isSecure = protocol === "https:" || hostname === "localhost";
  // A URL host that ends in a number is an IPv4 address, and one in brackets is an IPv6 address.
  const isDomainName = !/(^|\.)\d+$|^\[/.test(hostname);
  return isSecure && isDomainName ? hostname : undefined;
};

/**
 * The signature algorithms that authenticators can use: Ed25519, ECDSA on P-256, and RSA (IANA COSE
 * algorithms).
 */
export const supportedAlgorithms = [-8, -7, -257];

type PasskeyCreationInput = {
  challenge: string;
  rpId: string;
  account: { id: string; handle: string | null; username: string };
  existingPasskeys: readonly Pick<Passkey, "credentialId">[];
};

/**
 * Builds the options for a new passkey. It must be discoverable without a username and protected by
 * a PIN or biometrics.
 */
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

/** Serializes a passkey for its owner. */
export const serializePasskey = ({ id, name, dateCreated, lastUsedAt }: Passkey): PasskeyData => ({
  id,
  name,
  dateCreated: dateCreated.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});
