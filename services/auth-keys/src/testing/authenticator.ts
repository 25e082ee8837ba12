import { createHash, createSign, generateKeyPairSync, randomBytes } from "node:crypto";

const userPresent = 0x01;
const userVerified = 0x04;
const attestedCredentialData = 0x40;

type CeremonyOptions = {
  challenge: string;
  origin?: string;
  rpId?: string;
  isVerified?: boolean;
  counter?: number;
  crossOrigin?: boolean;
  type?: string;
  userHandle?: string | null;
};

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
const base64url = (data: string | Buffer): string => Buffer.from(data).toString("base64url");

/**
 * Creates an authenticator with a P-256 key, for tests that need responses that a real
 * authenticator would not give. The counter stays 0 unless one is given.
 */
export const createAuthenticator = (relyingParty: { origin: string; rpId: string }) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const credentialId = randomBytes(32);
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const coseKey = Buffer.concat([
    Buffer.from("a5010203262001215820", "hex"),
    Buffer.from(x, "base64url"),
    Buffer.from("225820", "hex"),
    Buffer.from(y, "base64url"),
  ]);

  const buildAuthenticatorData = (
    { rpId = relyingParty.rpId, isVerified = true, counter = 0 }: CeremonyOptions,
    credential?: Buffer,
  ): Buffer => {
    const flagsAndCounter = Buffer.alloc(5);
    const verified = isVerified ? userVerified : 0;
    flagsAndCounter.writeUInt8(
      userPresent | verified | (credential === undefined ? 0 : attestedCredentialData),
      0,
    );
    flagsAndCounter.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(rpId), flagsAndCounter, credential ?? Buffer.alloc(0)]);
  };

  const buildClientData = (
    { challenge, origin = relyingParty.origin, crossOrigin = false, type }: CeremonyOptions,
    defaultType: string,
  ): Buffer =>
    Buffer.from(JSON.stringify({ type: type ?? defaultType, challenge, origin, crossOrigin }));

  return {
    /** Returns what a browser sends for a new passkey. `statement` is its attestation in CBOR. */
    createCredential: (
      options: CeremonyOptions,
      statement = Buffer.from("63666d74646e6f6e656761747453746d74a0", "hex"),
    ) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey]);
      const data = buildAuthenticatorData(options, credential);
      const size = Buffer.from([0x58, data.length]);
      const name = Buffer.from("686175746844617461", "hex");
      const attestation = Buffer.concat([Buffer.from([0xa3]), statement, name, size, data]);
      return {
        id: base64url(credentialId),
        response: {
          clientDataJSON: base64url(buildClientData(options, "webauthn.create")),
          attestationObject: base64url(attestation),
        },
      };
    },
    /** Returns what a browser sends when a passkey answers a challenge. */
    sign: (options: CeremonyOptions) => {
      const data = buildAuthenticatorData(options);
      const clientDataBytes = buildClientData(options, "webauthn.get");
      const signed = Buffer.concat([data, sha256(clientDataBytes)]);
      return {
        id: base64url(credentialId),
        response: {
          clientDataJSON: base64url(clientDataBytes),
          authenticatorData: base64url(data),
          signature: createSign("sha256").update(signed).sign(privateKey).toString("base64url"),
          userHandle: options.userHandle ?? null,
        },
      };
    },
  };
};
export type Authenticator = ReturnType<typeof createAuthenticator>;

/** An attestation statement with a certificate, in CBOR: format `packed` with `x5c`. */
export const certifiedStatement = Buffer.concat([
  Buffer.from("63666d74667061636b6564", "hex"),
  Buffer.from("6761747453746d74a1", "hex"),
  Buffer.from("6378356380", "hex"),
]);
