/** A chain's id as settings name it: the decimal chain id of EVM, or a name. */
export const chainIdForm = /^(?:[1-9]\d{0,19}|[a-z][a-z0-9-]{0,39})$/;

const entry = /^([^=]+)=(.+)$/s;
const entriesMax = 100;
const urlsPerChainMax = 8;

/** The RPC providers of each chain, by its id in the catalogue, in the order of preference. */
export type RpcUrls = ReadonlyMap<string, readonly string[]>;

/**
 * Reads `<chain id>=<url>,…`, several per chain. Answers what is wrong with it, by the place of the
 * entry and never by its words: the addresses are secrets.
 */
export const parseRpcUrls = (text: string): RpcUrls | { fault: string } => {
  const entries = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (entries.length > entriesMax) return { fault: `has more than ${entriesMax} entries` };
  const urls = new Map<string, string[]>();
  for (const [index, part] of entries.entries()) {
    const fault = (text: string) => ({ fault: `entry ${index + 1} of ${entries.length} ${text}` });
    const [, chainId, url] = entry.exec(part) ?? [];
    if (chainId === undefined || url === undefined || !chainIdForm.test(chainId))
      return fault("is not <chain id>=<url>");
    if (!isHttpUrl(url)) return fault("is not an http or https URL");
    const ofChain = urls.get(chainId) ?? [];
    if (ofChain.includes(url)) return fault("stands there twice");
    if (ofChain.length === urlsPerChainMax) {
      return fault(`is the chain's ${urlsPerChainMax + 1}th provider`);
    }
    urls.set(chainId, [...ofChain, url]);
  }
  return urls;
};

const isHttpUrl = (text: string): boolean => {
  const protocol = URL.parse(text)?.protocol;
  return protocol === "http:" || protocol === "https:";
};
