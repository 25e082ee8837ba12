/** Hosts for development and tests, each with the origin to call instead. */
export type HostOverrides = ReadonlyMap<string, URL>;

const overridesMax = 100;
const hostNamePattern = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;

/**
 * Parses `receiver.test=http://127.0.0.1:9000,…` (rule OPS-7). Returns undefined if an entry is not
 * a lower-case host name with an http or https origin.
 */
export const parseHostOverrides = (entries: readonly string[]): HostOverrides | undefined => {
  if (entries.length > overridesMax) return undefined;
  const overrides = new Map<string, URL>();
  for (const entry of entries) {
    const [name = "", originText = ""] = splitOnce(entry);
    if (!hostNamePattern.test(name) || overrides.has(name) || !URL.canParse(originText))
      return undefined;
    const url = new URL(originText);
    const isOrigin = /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (!isOrigin) return undefined;
    overrides.set(name, url);
  }
  return overrides;
};

const splitOnce = (entry: string): string[] => {
  const separatorIndex = entry.indexOf("=");
  return separatorIndex === -1
    ? [entry]
    : [entry.slice(0, separatorIndex).trim(), entry.slice(separatorIndex + 1).trim()];
};
