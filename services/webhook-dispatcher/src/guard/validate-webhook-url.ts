import { isIP } from "node:net";
import { resolvePublic } from "./resolve-public.ts";
import type { Resolve } from "./resolver.ts";
import { type UrlRules, getHostname, parseWebhookUrl } from "./webhook-url.ts";

/**
 * Validates a webhook URL at registration, including DNS (rules HOOK-2, HOOK-3). Returns the
 * normalized URL, or undefined if it is rejected.
 */
export const validateWebhookUrl = async (
  urlText: string,
  { rules, resolve }: { rules: UrlRules; resolve: Resolve },
): Promise<URL | undefined> => {
  const url = parseWebhookUrl(urlText, rules);
  if (typeof url === "string") return undefined;
  const host = getHostname(url);
  if (isIP(host) !== 0 || rules.overriddenHosts.has(host)) return url;
  try {
    await resolvePublic(resolve, host);
    return url;
  } catch {
    return undefined;
  }
};
