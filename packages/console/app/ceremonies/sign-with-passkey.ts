import { callOperation } from "../api/call.ts";
import type { NewPasskey, PasskeyAnswer } from "../api/operations.ts";
import { UserFacingError } from "./user-facing-error.ts";

/** Signs a challenge of the service with a passkey. */
export const signWithPasskey = async (): Promise<PasskeyAnswer> => {
  const options = await callOperation("getPasskeyRequest");
  const publicKey = { ...options, challenge: decodeBase64url(options.challenge) };
  const { id, response } = await requestCredential(() => navigator.credentials.get({ publicKey }));
  const { authenticatorData, clientDataJSON, signature, userHandle } =
    response as AuthenticatorAssertionResponse;
  return {
    id,
    response: {
      authenticatorData: encodeBase64url(authenticatorData),
      clientDataJSON: encodeBase64url(clientDataJSON),
      signature: encodeBase64url(signature),
      userHandle: userHandle === null ? null : encodeBase64url(userHandle),
    },
  };
};

/** Creates a passkey. */
export const createPasskey = async (): Promise<NewPasskey["passkey"]> => {
  const options = await callOperation("getPasskeyCreation");
  const publicKey = {
    ...options,
    challenge: decodeBase64url(options.challenge),
    user: { ...options.user, id: decodeBase64url(options.user.id) },
    excludeCredentials: options.excludeCredentials.map((credential) => ({
      ...credential,
      id: decodeBase64url(credential.id),
    })),
  };
  const { id, response } = await requestCredential(() =>
    navigator.credentials.create({ publicKey }),
  );
  const { attestationObject, clientDataJSON } = response as AuthenticatorAttestationResponse;
  return {
    id,
    response: {
      attestationObject: encodeBase64url(attestationObject),
      clientDataJSON: encodeBase64url(clientDataJSON),
    },
  };
};

/** Requests a credential. The user can cancel the browser's dialog. */
const requestCredential = async (
  request: () => Promise<Credential | null>,
): Promise<PublicKeyCredential> => {
  try {
    const credential = await request();
    if (credential === null) throw new UserFacingError("noPasskey");
    return credential as PublicKeyCredential;
  } catch (error) {
    const isAlreadyRegistered = error instanceof DOMException && error.name === "InvalidStateError";
    throw new UserFacingError(isAlreadyRegistered ? "passkeyExists" : "noPasskey");
  }
};

const decodeBase64url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );

const encodeBase64url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
