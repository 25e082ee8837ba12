import { promises as dns } from "node:dns";

/** Returns all addresses of a host name. Rejects if there are none. */
export type Resolve = (hostName: string) => Promise<readonly string[]>;

type DnsOptions = {
  /** The total time for resolving one name. */
  timeoutMs: number;
  /** Name servers as `address:port`. Defaults to those of the machine. */
  servers?: readonly string[];
};

const queryTimeoutMs = 1_500;
const queryTries = 2;

/**
 * Queries DNS for A and AAAA records. `getaddrinfo` is not used because it reads the machine's
 * hosts file and search domains. A few hanging names would also fill the thread pool that it shares
 * with file access.
 */
export const createDnsResolver =
  ({ timeoutMs, servers }: DnsOptions): Resolve =>
  async (hostName) => {
    // One resolver per lookup, because canceling cancels all queries of a resolver. Creating one
    // takes microseconds.
    const resolver = new dns.Resolver({ timeout: queryTimeoutMs, tries: queryTries });
    if (servers !== undefined) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    const lookups = await Promise.allSettled([
      resolver.resolve4(hostName),
      resolver.resolve6(hostName),
    ]);
    clearTimeout(timer);
    const addresses = lookups.flatMap((lookup) =>
      lookup.status === "fulfilled" ? lookup.value : [],
    );
    if (addresses.length === 0) throw new Error("the host name does not resolve");
    return addresses;
  };
