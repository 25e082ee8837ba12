import { BlockList, isIPv6 } from "node:net";
import * as z from "zod";
import type { Manifest } from "./render-chart.ts";

const Labels = z.record(z.string(), z.string());
const Selector = z.strictObject({ matchLabels: Labels.default({}) });

const Peer = z.strictObject({
  podSelector: Selector.optional(),
  namespaceSelector: Selector.optional(),
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
});

const Ports = z
  .array(z.strictObject({ protocol: z.enum(["TCP", "UDP"]).default("TCP"), port: z.int() }))
  .optional();

const Policy = z.object({
  spec: z.strictObject({
    podSelector: Selector,
    policyTypes: z.array(z.enum(["Ingress", "Egress"])),
    ingress: z.array(z.strictObject({ from: z.array(Peer).optional(), ports: Ports })).default([]),
    egress: z.array(z.strictObject({ to: z.array(Peer).optional(), ports: Ports })).default([]),
  }),
});

/** An end of a connection: a pod in a namespace, or an address outside the cluster. */
export type NetworkEndpoint =
  | { labels: Readonly<Record<string, string>>; namespace: Readonly<Record<string, string>> }
  | { address: string };

export type Connection = {
  from: NetworkEndpoint;
  to: NetworkEndpoint;
  port: number;
  protocol?: "TCP" | "UDP";
};

/**
 * Returns a function that decides whether a namespace's policies allow a connection, according to
 * networking.k8s.io/v1. If no policy selects an end, this end allows every connection. Otherwise,
 * it allows the connections that at least one of its policies allows. Both ends must allow the
 * connection. `releaseNamespace` has the labels of the policies' own namespace.
 */
export const createPolicyEvaluator = (
  manifests: readonly Manifest[],
  releaseNamespace: Readonly<Record<string, string>>,
): ((connection: Connection) => boolean) => {
  const policies = manifests
    .filter(({ kind }) => kind === "NetworkPolicy")
    .map((manifest) => Policy.parse(manifest).spec);

  const isAllowed = (direction: "Ingress" | "Egress", connection: Connection): boolean => {
    const podEndpoint = direction === "Ingress" ? connection.to : connection.from;
    const peerEndpoint = direction === "Ingress" ? connection.from : connection.to;
    if ("address" in podEndpoint || podEndpoint.namespace !== releaseNamespace) return true;
    const matchingPolicies = policies.filter(
      ({ policyTypes, podSelector }) =>
        policyTypes.includes(direction) && isSelected(podSelector, podEndpoint.labels),
    );
    if (matchingPolicies.length === 0) return true;
    const rules = matchingPolicies.flatMap(({ ingress, egress }) =>
      direction === "Ingress"
        ? ingress.map(({ from, ports }) => ({ peers: from, ports }))
        : egress.map(({ to, ports }) => ({ peers: to, ports })),
    );
    return rules.some(
      ({ peers, ports }) =>
        (peers?.some((peer) => matchesPeer(peer, peerEndpoint, releaseNamespace)) ?? true) &&
        (ports?.some((port) => matchesPort(port, connection)) ?? true),
    );
  };
  return (connection) => isAllowed("Egress", connection) && isAllowed("Ingress", connection);
};

const isSelected = (
  { matchLabels }: z.output<typeof Selector>,
  labels: Readonly<Record<string, string>>,
): boolean => Object.entries(matchLabels).every(([name, value]) => labels[name] === value);

const matchesPort = (
  { port, protocol }: { port: number; protocol: string },
  connection: Connection,
): boolean => port === connection.port && protocol === (connection.protocol ?? "TCP");

const matchesPeer = (
  { podSelector, namespaceSelector, ipBlock }: z.output<typeof Peer>,
  endpoint: NetworkEndpoint,
  releaseNamespace: Readonly<Record<string, string>>,
): boolean => {
  if ("address" in endpoint) {
    if (ipBlock === undefined || !isInCidr(ipBlock.cidr, endpoint.address)) return false;
    return !ipBlock.except.some((cidr) => isInCidr(cidr, endpoint.address));
  }
  // Whether an address block applies to pods depends on the network plugin.
  if (ipBlock !== undefined) return false;
  const isInNamespace =
    namespaceSelector === undefined
      ? endpoint.namespace === releaseNamespace
      : isSelected(namespaceSelector, endpoint.namespace);
  return isInNamespace && (podSelector === undefined || isSelected(podSelector, endpoint.labels));
};

const isInCidr = (cidr: string, address: string): boolean => {
  const [network = "", prefixLength = ""] = cidr.split("/");
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  if ((family === "ipv6") !== isIPv6(address)) return false;
  const blockList = new BlockList();
  blockList.addSubnet(network, Number(prefixLength), family);
  return blockList.check(address, family);
};
