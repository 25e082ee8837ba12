import { call } from "../api/call.ts";
import type { NewPasskey, PasskeyAnswer } from "../api/operations.ts";
import { ToldError } from "./told-error.ts";

/** Has an authenticator answer a challenge of the server. */
export const signByPasskey = async (): Promise<PasskeyAnswer> => {
  const asked = await call("getPasskeyRequest");
  const publicKey = { ...asked, challenge: bytesOf(asked.challenge) };
  const { id, response } = await ask(() => navigator.credentials.get({ publicKey }));
  const { authenticatorData, clientDataJSON, signature, userHandle } =
    response as AuthenticatorAssertionResponse;
  return {
    id,
    response: {
      authenticatorData: textOf(authenticatorData),
      clientDataJSON: textOf(clientDataJSON),
      signature: textOf(signature),
      userHandle: userHandle === null ? null : textOf(userHandle),
    },
  };
};

/** Has an authenticator make a passkey. */
export const makePasskey = async (): Promise<NewPasskey["passkey"]> => {
  const asked = await call("getPasskeyCreation");
  const publicKey = {
    ...asked,
    challenge: bytesOf(asked.challenge),
    user: { ...asked.user, id: bytesOf(asked.user.id) },
    excludeCredentials: asked.excludeCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
  };
  const { id, response } = await ask(() => navigator.credentials.create({ publicKey }));
  const { attestationObject, clientDataJSON } = response as AuthenticatorAttestationResponse;
  return {
    id,
    response: {
      attestationObject: textOf(attestationObject),
      clientDataJSON: textOf(clientDataJSON),
    },
  };
};

/** A person may well turn away from it. */
const ask = async (question: () => Promise<Credential | null>): Promise<PublicKeyCredential> => {
  try {
    const answer = await question();
    if (answer === null) throw new ToldError("noPasskey");
    return answer as PublicKeyCredential;
  } catch (error) {
    const isThere = error instanceof DOMException && error.name === "InvalidStateError";
    throw new ToldError(isThere ? "passkeyExists" : "noPasskey");
  }
};

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

const textOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
