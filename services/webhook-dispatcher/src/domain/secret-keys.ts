import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** The keys that seal secrets at rest, by name: `sealing` seals, every one of them opens. */
export type SecretKeys = { sealing: string; byName: ReadonlyMap<string, Buffer> };

/** A secret as it is stored: nonce, ciphertext and tag, and the name of the key. */
export type SealedSecret = { sealed: Buffer; keyName: string };

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const keysMax = 16;
const keyName = /^[A-Za-z0-9_.-]{1,64}$/;
const base64OfKey = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Reads `name=<base64 of 32 bytes>,…` (rule OPS-6). Answers undefined where an entry is malformed or
 * a name comes twice: which one, and what it holds, is not for a log.
 */
export const readSecretKeys = (text: string): SecretKeys | undefined => {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const byName = new Map<string, Buffer>();
  for (const entry of entries) {
    const at = entry.indexOf("=");
    const [name, value] = [entry.slice(0, at), entry.slice(at + 1)];
    const isKey = at > 0 && keyName.test(name) && base64OfKey.test(value) && !byName.has(name);
    const key = Buffer.from(isKey ? value : "", "base64");
    if (key.length !== keyBytes) return undefined;
    byName.set(name, key);
  }
  const [sealing] = byName.keys();
  if (sealing === undefined || byName.size > keysMax) return undefined;
  return { sealing, byName };
};

/** Seals an endpoint's secret. It opens for that endpoint alone: its id is authenticated with it. */
export const sealSecret = (keys: SecretKeys, secret: string, endpointId: string): SealedSecret => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(keys, keys.sealing), nonce);
  cipher.setAAD(Buffer.from(endpointId));
  const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return { sealed: Buffer.concat([nonce, text, cipher.getAuthTag()]), keyName: keys.sealing };
};

/** Opens an endpoint's secret; throws where the key is not known or anything was changed. */
export const openSecret = (
  keys: SecretKeys,
  { sealed, keyName }: SealedSecret,
  endpointId: string,
): string => {
  const decipher = createDecipheriv(
    algorithm,
    keyOf(keys, keyName),
    sealed.subarray(0, nonceBytes),
  );
  decipher.setAAD(Buffer.from(endpointId));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  const text = sealed.subarray(nonceBytes, -tagBytes);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8");
};

const keyOf = (keys: SecretKeys, name: string): Buffer => {
  const key = keys.byName.get(name);
  if (key === undefined) throw new Error(`no secret key is named ${name}`);
  return key;
};
