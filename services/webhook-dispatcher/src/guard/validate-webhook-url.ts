import { isIP } from "node:net";
import { resolvePublic } from "./resolve-public.ts";
import type { Resolve } from "./resolver.ts";
import {
  type UrlRuleViolation,
  type UrlRules,
  getHostname,
  parseWebhookUrl,
} from "./webhook-url.ts";

/** The problem that a violation is reported as. */
const problems = {
  too_long: "format",
  control_character: "format",
  no_url: "format",
  scheme: "scheme",
  credentials: "credentials",
  port: "port",
  fragment: "fragment",
  host_name: "host",
  address: "host",
} as const satisfies Record<UrlRuleViolation, string>;

type UrlProblem = (typeof problems)[UrlRuleViolation];

/**
 * Validates a webhook URL at registration, including DNS (rules HOOK-2, HOOK-3). Returns the
 * normalized URL, or what is wrong with it. A host that does not resolve and a host with a private
 * address are the same problem, so that no one can find out which names exist in our own network.
 */
export const validateWebhookUrl = async (
  urlText: string,
  { rules, resolve }: { rules: UrlRules; resolve: Resolve },
): Promise<URL | UrlProblem> => {
  const url = parseWebhookUrl(urlText, rules);
  if (typeof url === "string") return problems[url];
  const host = getHostname(url);
  if (isIP(host) !== 0 || rules.overriddenHosts.has(host)) return url;
  try {
    await resolvePublic(resolve, host);
    return url;
  } catch {
    return "host";
  }
};
