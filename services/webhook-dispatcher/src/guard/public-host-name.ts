import { domainToUnicode } from "node:url";

const nameLengthMax = 253;
const labelLengthMax = 63;

/**
 * Top-level names that mean this machine, this network, or nothing that a certificate could be issued
 * for; `home.arpa` is below one of them.
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
 * Whether a host name, as the URL parser gives it (lower case, IDNA done), can be a public one: at
 * least two labels, each of a legal length, none special. One trailing dot is ignored.
 */
export const isPublicHostName = (hostName: string): boolean => {
  const name = stripTrailingDot(hostName);
  const labels = name.split(".");
  if (name.length > nameLengthMax || labels.length < 2) return false;
  if (labels.some((label) => label === "" || label.length > labelLengthMax)) return false;
  if (labels.some(isUndecodable)) return false;
  return !reservedTopLevelDomains.has(labels.at(-1) ?? "");
};

/** The name without the one trailing dot that marks it as complete. */
export const stripTrailingDot = (hostName: string): string =>
  hostName.endsWith(".") ? hostName.slice(0, -1) : hostName;

/**
 * Node leaves a label that is not valid punycode as it is; other parsers may read another name
 * there.
 */
const isUndecodable = (label: string): boolean =>
  label.startsWith("xn--") && domainToUnicode(label).startsWith("xn--");
