import { domainToUnicode } from "node:url";

const nameLengthMax = 253;
const labelLengthMax = 63;

/**
 * Top-level names that mean this machine or this network, or for which no certificate can exist.
 * `home.arpa` is below one of them.
 */
const reservedTopLevelDomains = new Set([
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "svc",
  "onion",
  "alt",
  "invalid",
  "test",
  "example",
  "arpa",
]);

/**
 * Returns whether a host name can be public. Expects the output of the URL parser (lower case, IDNA
 * applied). A public name has at least two labels. Each label has a valid length, and the last one
 * is not reserved. One trailing dot is ignored.
 */
export const isPublicHostName = (hostName: string): boolean => {
  const name = stripTrailingDot(hostName);
  const labels = name.split(".");
  if (name.length > nameLengthMax || labels.length < 2) return false;
  if (labels.some((label) => label === "" || label.length > labelLengthMax)) return false;
  if (labels.some(isUndecodable)) return false;
  return !reservedTopLevelDomains.has(labels.at(-1) ?? "");
};

/** Removes the one trailing dot of a fully qualified name. */
export const stripTrailingDot = (hostName: string): string =>
  hostName.endsWith(".") ? hostName.slice(0, -1) : hostName;

/**
 * Returns whether a label is invalid punycode. Node leaves it unchanged, but other parsers may
 * decode it to another name.
 */
const isUndecodable = (label: string): boolean =>
  label.startsWith("xn--") && domainToUnicode(label).startsWith("xn--");
