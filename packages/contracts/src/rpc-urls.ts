/** The form of a chain's id in settings: the decimal chain id of EVM, or a name. */
export const chainIdPattern = /^(?:[1-9]\d{0,19}|[a-z][a-z0-9-]{0,39})$/;

const entryPattern = /^([^=]+)=(.+)$/s;
const entriesMax = 100;
const urlsPerChainMax = 8;

/** The RPC provider URLs of each chain, by its id in the catalogue, in order of preference. */
export type RpcUrls = ReadonlyMap<string, readonly string[]>;

/**
 * Parses `<chain id>=<url>,…`, with several entries per chain. An error identifies an entry only by
 * its position, because the URLs are secrets. A chain's providers must have different hosts (rule
 * CHAIN-31), except for `independentHosts`, as {@link parseHosts} returns them.
 */
export const parseRpcUrls = (
  text: string,
  independentHosts: ReadonlySet<string> = new Set(),
): RpcUrls | { fault: string } => {
  const entries = splitList(text);
  if (entries.length > entriesMax) return { fault: `has more than ${entriesMax} entries` };
  const urls = new Map<string, string[]>();
  /** The first entry with each host of a chain, and with each URL. */
  const firstEntries = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const createFault = (problem: string) => ({
      fault: `entry ${index + 1} of ${entries.length} ${problem}`,
    });
    const [, chainId, url] = entryPattern.exec(entry) ?? [];
    if (chainId === undefined || url === undefined || !chainIdPattern.test(chainId))
      return createFault("is not <chain id>=<url>");
    const parsedUrl = parseHttpUrl(url);
    if (parsedUrl === undefined) return createFault("is not an http or https URL");
    const chainUrls = urls.get(chainId) ?? [];
    if (firstEntries.has(`${chainId} ${parsedUrl.href}`)) return createFault("is a duplicate");
    firstEntries.set(`${chainId} ${parsedUrl.href}`, index + 1);
    const hostKey = `${chainId} ${getProviderHost(parsedUrl)}`;
    const firstEntry = firstEntries.get(hostKey);
    if (firstEntry !== undefined && !independentHosts.has(normalizeHostname(parsedUrl))) {
      return createFault(
        `has the host of entry ${firstEntry}, so both count as one provider; ` +
          "list the host in INDEPENDENT_RPC_HOSTS if independent providers share it",
      );
    }
    firstEntries.set(hostKey, firstEntry ?? index + 1);
    if (chainUrls.length === urlsPerChainMax) {
      return createFault(`exceeds the limit of ${urlsPerChainMax} providers per chain`);
    }
    urls.set(chainId, [...chainUrls, url]);
  }
  return urls;
};

const hostPattern = /^(?:[^\s/?#@\\:[\]]+|\[[\d.:a-f]+\])$/i;

/**
 * Parses `<host>,…`, without ports, into the form in which hosts are compared. An error identifies
 * an entry by its position.
 */
export const parseHosts = (text: string): ReadonlySet<string> | { fault: string } => {
  const entries = splitList(text);
  const hosts = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const url = hostPattern.test(entry) ? URL.parse(`http://${entry}/`) : null;
    if (url === null) {
      return { fault: `entry ${index + 1} of ${entries.length} is not a host name without a port` };
    }
    hosts.add(normalizeHostname(url));
  }
  return hosts;
};

const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

const parseHttpUrl = (text: string): URL | undefined => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
};

/** The URL parser has already converted names to lower case and numbers to IP addresses. */
const normalizeHostname = ({ hostname }: URL): string => hostname.replace(/\.$/, "");

const loopbackPattern = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Many nodes share the loopback host, where the port distinguishes them. */
const getProviderHost = (url: URL): string => {
  const hostname = normalizeHostname(url);
  if (!loopbackPattern.test(hostname)) return hostname;
  return `loopback:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
};
