import { type KeyObject, createPublicKey, verify } from "node:crypto";

/** The public keys of secret scanners, by the identifier that comes with a signature. */
export type ScannerPublicKeys = ReadonlyMap<string, KeyObject>;

/**
 * Reads `<identifier>=<base64 of a public key>`, separated by commas: what stands between the first
 * and the last line of a PEM file. Undefined if an entry is no such key on the curve P-256.
 */
export const parseScannerKeys = (text: string): ScannerPublicKeys | undefined => {
  const keys = new Map<string, KeyObject>();
  for (const entry of text.split(",").map((item) => item.trim())) {
    // What is cut off behind the key only pads it.
    const [identifier = "", base64 = ""] = entry.split("=");
    const key = parsePublicKey(base64);
    if (!/^[\w.-]{1,100}$/.test(identifier) || key === undefined) return undefined;
    keys.set(identifier, key);
  }
  return keys;
};

const parsePublicKey = (base64: string): KeyObject | undefined => {
  try {
    const key = createPublicKey({
      key: Buffer.from(base64, "base64"),
      format: "der",
      type: "spki",
    });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    return undefined;
  }
};

type SignedRequest = { bytes: Buffer; identifier: string; signature: string };

/** Whether a known scanner signed these very bytes (ECDSA over SHA-256, as GitHub does). */
export const isSignedByScanner = (
  keys: ScannerPublicKeys,
  { bytes, identifier, signature }: SignedRequest,
): boolean => {
  const key = keys.get(identifier);
  return key !== undefined && verify("sha256", bytes, key, Buffer.from(signature, "base64"));
};
