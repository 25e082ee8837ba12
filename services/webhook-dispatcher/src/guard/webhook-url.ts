import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";
import { isPublicHostName, stripTrailingDot } from "./public-host-name.ts";

const urlLengthMax = 2048;

/** The rule that a webhook URL violates (rules HOOK-2, HOOK-3). */
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
  /** The hosts that are overridden in development and tests. They pass the public-host rule. */
  overriddenHosts: ReadonlySet<string>;
  /** The hosts of this installation. A webhook to ourselves would be a loop. */
  ownHosts: ReadonlySet<string>;
};

/**
 * Validates a webhook URL that a user typed, without querying DNS. Returns the rule that it
 * violates, or the normalized URL, which is stored, shown and called. Checks the host after
 * parsing, because `0x7f.1`, `2130706433` and full-width digits all mean 127.0.0.1.
 */
export const parseWebhookUrl = (text: string, rules: UrlRules): URL | UrlRuleViolation => {
  if ([...text].length > urlLengthMax) return "too_long";
  // The parser would silently drop tabs and line breaks.
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
  // Percent-encoding can make a URL many times longer than the typed text.
  return url.href.length > urlLengthMax ? "too_long" : url;
};

/** Returns a URL's host as DNS and sockets use it: an IPv6 literal without brackets. */
export const getHostname = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1");

const controlCharacterPattern = /\p{Cc}/u;
const ipv6LiteralPattern = /\[[^\]]*\]/;

/**
 * Returns the URL's authority exactly as written. The parsed URL drops a default port, an empty port
 * and empty credentials. The parser accepts any number of slashes and backslashes before the
 * authority.
 */
const extractAuthority = (text: string): string =>
  /^\s*https:[\\/]*([^\\/?#]*)/i.exec(text)?.[1] ?? "";

const findHostViolation = (host: string, rules: UrlRules): UrlRuleViolation | undefined => {
  const name = stripTrailingDot(host);
  if (rules.overriddenHosts.has(name)) return undefined;
  if (isIP(name) !== 0) return isPublicAddress(name) ? undefined : "address";
  return isPublicHostName(host) && !rules.ownHosts.has(name) ? undefined : "host_name";
};
