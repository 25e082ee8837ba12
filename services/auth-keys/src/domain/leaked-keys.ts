import { type KeyObject, createPublicKey, verify } from "node:crypto";

/** The public keys of secret scanners, keyed by the identifier that accompanies a signature. */
export type ScannerPublicKeys = ReadonlyMap<string, KeyObject>;

/**
 * Parses a comma-separated list of `<identifier>=<base64 of a public key>`. The base64 text is the
 * body of a PEM file. Returns undefined if an entry does not contain a valid P-256 key.
 */
export const parseScannerKeys = (text: string): ScannerPublicKeys | undefined => {
  const keys = new Map<string, KeyObject>();
  for (const entry of text.split(",").map((item) => item.trim())) {
    // Splitting at `=` also removes the base64 padding, which is not needed.
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

/** Returns whether a known scanner signed exactly these bytes (ECDSA over SHA-256, as GitHub does). */
export const isSignedByScanner = (
  keys: ScannerPublicKeys,
  { bytes, identifier, signature }: SignedRequest,
): boolean => {
  const key = keys.get(identifier);
  return key !== undefined && verify("sha256", bytes, key, Buffer.from(signature, "base64"));
};
