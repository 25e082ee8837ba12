import { type KeyObject, createSecretKey } from "node:crypto";

/**
 * The HMAC keys of each provider, by provider name. A KeyObject does not reveal its value in logs
 * or JSON.
 */
export type ProviderKeys = ReadonlyMap<string, readonly KeyObject[]>;

const providersMax = 100;
const keysPerProviderMax = 5;
const keyBytesMin = 16;
const providerNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const secretPrefix = "whsec_";
const base64Padding = /={0,2}$/;

/**
 * Parses `name=whsec_<base64>,name=whsec_<base64>` (rule OPS-6). A fault identifies an entry by its
 * number only, because the text contains secrets.
 */
export const parseProviderSecrets = (text: string): ProviderKeys | { fault: string } => {
  const keysByProvider = new Map<string, KeyObject[]>();
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  for (const [index, entry] of entries.entries()) {
    const position = `entry ${index + 1} of ${entries.length}`;
    // The base64 can end in `=` too, so only the first `=` is a separator.
    const [name, secret] = splitAtFirst(entry, "=");
    if (secret === undefined || !providerNamePattern.test(name)) {
      return { fault: `${position} must be <provider>=whsec_<base64>` };
    }
    const key = parseKey(secret);
    if (key === undefined) {
      return {
        fault: `${position} must be whsec_ followed by the base64 of at least ${keyBytesMin} bytes`,
      };
    }
    const keys = [...(keysByProvider.get(name) ?? []), key];
    if (keys.length > keysPerProviderMax) {
      return {
        fault: `${position} exceeds the limit of ${keysPerProviderMax} secrets per provider`,
      };
    }
    keysByProvider.set(name, keys);
  }
  return keysByProvider.size > providersMax
    ? { fault: `names more than ${providersMax} providers` }
    : keysByProvider;
};

const splitAtFirst = (text: string, separator: string): [string, string?] => {
  const separatorIndex = text.indexOf(separator);
  return separatorIndex === -1
    ? [text]
    : [text.slice(0, separatorIndex), text.slice(separatorIndex + separator.length)];
};

const parseKey = (secret: string): KeyObject | undefined => {
  const encoded = secret.slice(secretPrefix.length);
  if (!secret.startsWith(secretPrefix)) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  // Node skips invalid base64 characters and stops at padding, so the decoded bytes are encoded
  // again and compared.
  const isValidBase64 =
    bytes.toString("base64").replace(base64Padding, "") === encoded.replace(base64Padding, "");
  return isValidBase64 && bytes.length >= keyBytesMin ? createSecretKey(bytes) : undefined;
};
