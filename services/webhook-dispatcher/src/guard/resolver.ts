import { promises as dns } from "node:dns";

/** Returns all addresses of a host name. Rejects if there are none. */
export type Resolve = (hostName: string) => Promise<readonly string[]>;

type DnsOptions = {
  /** The timeout for resolving one name. */
  timeoutMs: number;
  /** The name servers as `address:port`. By default, those of the machine are used. */
  servers?: readonly string[];
};

const queryTimeoutMs = 1_500;
const queryTries = 2;

/**
 * Queries DNS for A and AAAA records. Does not use `getaddrinfo`, which reads the machine's hosts
 * file and search domains. It also runs in the thread pool that file access needs, so a few hanging
 * names would block both.
 */
export const createDnsResolver =
  ({ timeoutMs, servers }: DnsOptions): Resolve =>
  async (hostName) => {
    // Uses one resolver per lookup, because cancelling a resolver cancels all of its queries.
    // Creating one takes microseconds.
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
