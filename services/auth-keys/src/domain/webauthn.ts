import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import type { NewPasskey, PasskeyAssertion } from "@payment-links/contracts";
import { type Passkey, supportedAlgorithms } from "./passkey.ts";

/**
 * The site for which a response must have been created. Browsers report `origin`, and
 * authenticators report `rpId`.
 */
export type RelyingParty = { origin: string; rpId: string };

/**
 * Returns the challenge that a response claims to answer. The caller must still check that this
 * browser received the challenge. Returns undefined if the text is not a browser's client data, or
 * if it was created in a frame on another site.
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
 * Verifies a response against its passkey. Checks the challenge, origin, relying party, user
 * verification and signature. The counter must be above the stored one, or both must be 0. Returns
 * the new counter or the violated rule.
 */
export const verifyAssertion = async (
  { id, response: { userHandle, ...response } }: PasskeyAssertion,
  { credentialId, publicKey, counter, accountId }: Passkey,
  { origin, rpId, challenge }: RelyingParty & { challenge: string },
): Promise<{ counter: number } | string> => {
  // The user handle was set to the account id when the passkey was created.
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
    // We do not request attestation certificates. The library would parse a certificate that an
    // attacker sends anyway, and fetch the URLs in it.
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
