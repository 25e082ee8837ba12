import type { Ports } from "./http-caller.ts";

/** The attacker's knowledge of the product: public data, and its own account and API key. */
export type Target = {
  /** Attackers call each service directly, without an ingress in between. */
  ports: Ports;
  /** The source addresses of the attack, all of them on loopback. */
  addresses: readonly string[];
  /** The number of connections that an attack opens unless it sets its own count. */
  socketsMax: number;
  /** The attacker's own credentials. */
  cookie: string;
  apiKey: string;
  handle: string;
  linkIds: readonly string[];
  solanaLinkId: string;
  /** The largest file that the product serves. */
  filePath: string;
  /** Images of owners whose hosts never respond. */
  imagePaths: readonly string[];
  /** A configured payment provider. */
  provider: string;
};
