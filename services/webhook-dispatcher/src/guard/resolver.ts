import { promises as dns } from "node:dns";

/** Answers all addresses of a host name; rejects if it has none. */
export type Resolve = (hostName: string) => Promise<readonly string[]>;

type DnsOptions = {
  /** How long looking up one name may take in all. */
  timeoutMs: number;
  /** Name servers as `address:port`; the machine's own if not given. */
  servers?: readonly string[];
};

const queryTimeoutMs = 1_500;
const queryTries = 2;

/**
 * Asks DNS for A and AAAA records. Not `getaddrinfo`: that reads the machine's hosts file and search
 * domains, and a few hanging names would fill the thread pool that all file access shares.
 */
export const createDnsResolver =
  ({ timeoutMs, servers }: DnsOptions): Resolve =>
  async (hostName) => {
    // One resolver for each question: giving up cancels everything that a resolver was asked.
    // Making one takes microseconds.
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
