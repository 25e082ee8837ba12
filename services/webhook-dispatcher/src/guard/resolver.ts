import { promises as dns } from "node:dns";

/** Answers every address of a host name; rejects where there is none. */
export type Resolve = (hostName: string) => Promise<readonly string[]>;

type DnsOptions = {
  /** How long one name may take in all. */
  timeoutMs: number;
  /** Name servers as `address:port`; those of the machine where not given. */
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
    // One for each question, as giving up cancels all that a resolver was asked; it costs microseconds.
    const resolver = new dns.Resolver({ timeout: queryTimeoutMs, tries: queryTries });
    if (servers !== undefined) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), timeoutMs);
    const families = await Promise.allSettled([
      resolver.resolve4(hostName),
      resolver.resolve6(hostName),
    ]);
    clearTimeout(timer);
    const addresses = families.flatMap((family) =>
      family.status === "fulfilled" ? family.value : [],
    );
    if (addresses.length === 0) throw new Error("the host name does not resolve");
    return addresses;
  };
