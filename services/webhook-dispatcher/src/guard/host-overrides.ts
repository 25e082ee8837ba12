/** Hosts of development and tests, each with the origin that is called instead of it. */
export type HostOverrides = ReadonlyMap<string, URL>;

const overridesMax = 100;
const hostName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/**
 * Reads `receiver.test=http://127.0.0.1:9000,…` (rule OPS-7). Answers undefined where an entry is not
 * a lower-case host name with an http or https origin.
 */
export const readHostOverrides = (entries: readonly string[]): HostOverrides | undefined => {
  if (entries.length > overridesMax) return undefined;
  const overrides = new Map<string, URL>();
  for (const entry of entries) {
    const [name = "", target = ""] = splitOnce(entry);
    if (!hostName.test(name) || overrides.has(name) || !URL.canParse(target)) return undefined;
    const url = new URL(target);
    const isOrigin = /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!isOrigin) return undefined;
    overrides.set(name, url);
  }
  return overrides;
};

const splitOnce = (entry: string): string[] => {
  const at = entry.indexOf("=");
  return at === -1 ? [entry] : [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
};
