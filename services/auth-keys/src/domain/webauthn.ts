import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import type { NewPasskey, PasskeyAssertion } from "@payment-links/contracts";
import { type Passkey, supportedAlgorithms } from "./passkey.ts";

/**
 * Where responses must be created, according to the browser (`origin`) and the authenticator
 * (`rpId`).
 */
export type RelyingParty = { origin: string; rpId: string };

/**
 * Parses the challenge for which a response claims to be created. The caller must still check that
 * this browser received the challenge. Returns undefined if the text is not a browser's client
 * data, or was created in another site's frame.
 */
export const parseChallenge = (clientDataJSON: string): string | undefined => {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString("utf8"));
    if (typeof data !== "object" || data === null || !("challenge" in data)) return undefined;
    if ("crossOrigin" in data && data.crossOrigin === true) return undefined;
    return typeof data.challenge === "string" ? data.challenge : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Verifies a response against its passkey: challenge, origin, relying party, user verification,
 * signature, and a counter above the last one (or both 0). Returns the new counter or the violated
 * rule.
 */
export const verifyAssertion = async (
  { id, response: { userHandle, ...response } }: PasskeyAssertion,
  { credentialId, publicKey, counter, accountId }: Passkey,
  { origin, rpId, challenge }: RelyingParty & { challenge: string },
): Promise<{ counter: number } | string> => {
  // The user handle that was set at the key's creation: the account id.
  const accountHandle =
    userHandle === null ? accountId : Buffer.from(userHandle, "base64url").toString();
  if (accountHandle !== accountId) return "user handle";
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: "public-key", response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: {
        id: credentialId.toString("base64url"),
        publicKey: new Uint8Array(publicKey),
        counter,
      },
      requireUserVerification: true,
    });
    return verified ? { counter: authenticationInfo.newCounter } : "signature";
  } catch (error) {
    return error instanceof Error ? error.message : "unreadable";
  }
};

type VerifiedPasskey = Pick<Passkey, "credentialId" | "publicKey" | "counter">;

/**
 * Verifies a new passkey against what was requested. Returns its public key and counter, or the
 * violated rule.
 */
export const verifyAttestation = async (
  { id, response }: NewPasskey["passkey"],
  { origin, rpId, challenge }: RelyingParty & { challenge: string },
): Promise<VerifiedPasskey | string> => {
  try {
    // We request no attestation certificates. Otherwise an attacker's certificate would be parsed,
    // and the URLs in it would be fetched.
    if (!isSelfAttested(response.attestationObject)) return "attestation";
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { id, rawId: id, type: "public-key", response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: supportedAlgorithms,
    });
    if (!verified) return "signature";
    const { credential } = registrationInfo;
    return {
      credentialId: Buffer.from(credential.id, "base64url"),
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
    };
  } catch (error) {
    return error instanceof Error ? error.message : "unreadable";
  }
};

const isSelfAttested = (attestationObject: string): boolean => {
  const attestation = decodeAttestationObject(
    new Uint8Array(Buffer.from(attestationObject, "base64url")),
  );
  const format = attestation.get("fmt");
  if (format === "none") return true;
  return format === "packed" && attestation.get("attStmt").get("x5c") === undefined;
};
