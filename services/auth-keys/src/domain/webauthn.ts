import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import type { NewPasskey, PasskeyAssertion } from "@payment-links/contracts";
import { type Passkey, supportedAlgorithms } from "./passkey.ts";

/** Where answers must have been made, by the browser's own word and the authenticator's. */
export type RelyingParty = { origin: string; rpId: string };

/**
 * The challenge that an answer says it was made for. Whoever uses it must still find that it was given
 * to this browser. Undefined if the text is none of a browser's, or was made in another site's frame.
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
 * Holds an answer against the passkey that it names: challenge, origin, relying party, user verified,
 * counter above the last one (or both 0), signature. Answers the new counter, or the broken rule.
 */
export const verifyAssertion = async (
  { id, response: { userHandle, ...response } }: PasskeyAssertion,
  { credentialId, publicKey, counter, accountId }: Passkey,
  { origin, rpId, challenge }: RelyingParty & { challenge: string },
): Promise<{ counter: number } | string> => {
  // The handle that was given when the key was made: the account.
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

/** Holds a new passkey against what was asked for; answers its public half, or the broken rule. */
export const verifyAttestation = async (
  { id, response }: NewPasskey["passkey"],
  { origin, rpId, challenge }: RelyingParty & { challenge: string },
): Promise<VerifiedPasskey | string> => {
  try {
    // Certificates of authenticators are not asked for. A stranger's would be parsed, and what they
    // name be fetched.
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
