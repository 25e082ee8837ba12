import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";
import { isPublicHostName, stripTrailingDot } from "./public-host-name.ts";

const urlLengthMax = 2048;

/** Which rule a webhook URL breaks (rules HOOK-2, HOOK-3). */
export type UrlRuleViolation =
  | "too_long"
  | "control_character"
  | "no_url"
  | "scheme"
  | "credentials"
  | "port"
  | "fragment"
  | "host_name"
  | "address";

export type UrlRules = {
  /** Hosts that development and tests send elsewhere; they pass the public-host rule. */
  overriddenHosts: ReadonlySet<string>;
  /** Our own hosts: a webhook to ourselves would be a loop. */
  ownHosts: ReadonlySet<string>;
};

/**
 * Judges what a person typed as a webhook URL, without asking DNS: answers the normalised URL, which is
 * what is stored, shown and called, or the rule it breaks. A host is judged after parsing, as
 * `0x7f.1`, `2130706433` and full-width digits are all 127.0.0.1.
 */
export const parseWebhookUrl = (text: string, rules: UrlRules): URL | UrlRuleViolation => {
  if ([...text].length > urlLengthMax) return "too_long";
  // The parser would drop tabs and line ends silently.
  if (controlCharacterPattern.test(text) || !text.isWellFormed()) return "control_character";
  if (!URL.canParse(text)) return "no_url";
  const url = new URL(text);
  if (url.protocol !== "https:") return "scheme";
  const authority = extractAuthority(text);
  if (authority.includes("@")) return "credentials";
  if (authority.replace(ipv6LiteralPattern, "").includes(":")) return "port";
  if (url.href.includes("#")) return "fragment";
  const violation = findHostViolation(getHostname(url), rules);
  if (violation !== undefined) return violation;
  url.hostname = stripTrailingDot(url.hostname);
  // Encoded, a URL may be many times as long as it was typed.
  return url.href.length > urlLengthMax ? "too_long" : url;
};

/** The host of a URL as DNS and sockets name it: an IPv6 literal without its brackets. */
export const getHostname = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1");

const controlCharacterPattern = /\p{Cc}/u;
const ipv6LiteralPattern = /\[[^\]]*\]/;

/**
 * What the text itself has between the slashes and the path. The parsed URL no longer shows a
 * default port, an empty port or empty credentials. The parser takes any number of slashes, of
 * either kind.
 */
const extractAuthority = (text: string): string =>
  /^\s*https:[\\/]*([^\\/?#]*)/i.exec(text)?.[1] ?? "";

const findHostViolation = (host: string, rules: UrlRules): UrlRuleViolation | undefined => {
  const name = stripTrailingDot(host);
  if (rules.overriddenHosts.has(name)) return undefined;
  if (isIP(name) !== 0) return isPublicAddress(name) ? undefined : "address";
  return isPublicHostName(host) && !rules.ownHosts.has(name) ? undefined : "host_name";
};
