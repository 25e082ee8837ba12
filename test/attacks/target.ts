import type { Ports } from "./http-caller.ts";

/** What an attacker knows of the product: public data, and an account and a key of its own. */
export type Target = {
  /** Attackers call each service directly, without an ingress in between. */
  ports: Ports;
  /** The source addresses of the attack, all of them loopback. */
  addresses: readonly string[];
  /** How many connections an attack holds unless it sets its own count. */
  socketsMax: number;
  /** The attacker's own credentials. */
  cookie: string;
  apiKey: string;
  handle: string;
  linkIds: readonly string[];
  solanaLinkId: string;
  /** The largest file that the product serves. */
  filePath: string;
  /** Images of owners whose hosts never answer. */
  imagePaths: readonly string[];
  /** A payment provider that the product knows. */
  provider: string;
};
