import type { Ports } from "./http-caller.ts";

/** What the attacker knows: public data, and its own account and API key. */
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
  /** Paths of owner images on a host that never responds. */
  imagePaths: readonly string[];
  /** A configured payment provider. */
  provider: string;
};
