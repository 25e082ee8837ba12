import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/**
 * The keys that encrypt stored secrets, by name. New secrets are encrypted with the key
 * `sealingKeyName`. Each key can decrypt the secrets that it encrypted.
 */
export type SecretKeys = { sealingKeyName: string; byName: ReadonlyMap<string, Buffer> };

/** A stored secret: nonce, ciphertext and tag, with the name of its key. */
export type SealedSecret = { sealed: Buffer; keyName: string };

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const keysMax = 16;
const keyNamePattern = /^[A-Za-z0-9_.-]{1,64}$/;
const base64KeyPattern = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Parses `name=<base64 of 32 bytes>,…` (rule OPS-6). Returns undefined if an entry is malformed or
 * a name occurs twice. The result does not say which entry is wrong, because its content must not
 * be logged.
 */
export const parseSecretKeys = (text: string): SecretKeys | undefined => {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const byName = new Map<string, Buffer>();
  for (const entry of entries) {
    const separatorIndex = entry.indexOf("=");
    const [name, value] = [entry.slice(0, separatorIndex), entry.slice(separatorIndex + 1)];
    const isValidEntry =
      separatorIndex > 0 &&
      keyNamePattern.test(name) &&
      base64KeyPattern.test(value) &&
      !byName.has(name);
    const key = Buffer.from(isValidEntry ? value : "", "base64");
    if (key.length !== keyBytes) return undefined;
    byName.set(name, key);
  }
  const [sealingKeyName] = byName.keys();
  if (sealingKeyName === undefined || byName.size > keysMax) return undefined;
  return { sealingKeyName, byName };
};

/**
 * Encrypts an endpoint's secret. The endpoint's id is authenticated with it, so the result can be
 * decrypted only for that endpoint.
 */
export const sealSecret = (keys: SecretKeys, secret: string, endpointId: string): SealedSecret => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, getKey(keys, keys.sealingKeyName), nonce);
  cipher.setAAD(Buffer.from(endpointId));
  const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return {
    sealed: Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]),
    keyName: keys.sealingKeyName,
  };
};

/** Decrypts an endpoint's secret. Throws if the key is unknown or anything was changed. */
export const openSecret = (
  keys: SecretKeys,
  { sealed, keyName }: SealedSecret,
  endpointId: string,
): string => {
  const decipher = createDecipheriv(
    algorithm,
    getKey(keys, keyName),
    sealed.subarray(0, nonceBytes),
  );
  decipher.setAAD(Buffer.from(endpointId));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const ciphertext = sealed.subarray(nonceBytes, -tagBytes);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
};

const getKey = (keys: SecretKeys, name: string): Buffer => {
  const key = keys.byName.get(name);
  if (key === undefined) throw new Error(`unknown secret key: ${name}`);
  return key;
};
