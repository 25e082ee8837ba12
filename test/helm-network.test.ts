import { beforeAll, expect, test } from "@jest/globals";
import { type Connection, type End, createPolicyVerdict } from "./helm/policy-verdict.ts";
import { renderChart, serviceNames, set } from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";

const withHelm = needing("helm");

const home = { "kubernetes.io/metadata.name": "shop" };
const pod = (component: string): End => ({
  namespace: home,
  labels: {
    "app.kubernetes.io/name": "payment-links",
    "app.kubernetes.io/instance": "pl",
    "app.kubernetes.io/component": component,
  },
});
const podIn = (namespace: string, labels: Record<string, string> = {}): End => ({
  namespace: { "kubernetes.io/metadata.name": namespace },
  labels,
});
const address = (text: string): End => ({ address: text });

const [open, internal] = [8080, 8081];

/** Where things are, by the values of the topology `production`. */
const places: Record<string, { to: End; port: number }> = {
  postgres: { to: address("10.30.0.5"), port: 5432 },
  kafka: { to: podIn("data"), port: 9093 },
  redis: { to: podIn("data"), port: 6379 },
  tracing: { to: podIn("observability"), port: 4318 },
};

/** Addresses of every kind that a webhook must never reach. */
const closed = [
  "0.0.0.0",
  "10.30.0.5",
  "100.64.0.1",
  "127.0.0.1",
  "168.63.129.16",
  "169.254.169.254",
  "172.16.0.1",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::ffff:10.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "100::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "3fff::1",
  "fc00::1",
  "fe80::1",
  "ff02::1",
];
const publicAddresses = ["1.1.1.1", "93.184.216.34", "2606:4700::1111"];
/** The operator's own addresses, which `networkPolicy.webhookExcept` names. */
const own = ["203.0.114.7", "2a00:1450:4000::1"];

withHelm.describe("the network policies", () => {
  let lets: (connection: Connection) => boolean = () => false;
  beforeAll(async () => {
    lets = createPolicyVerdict(await renderChart("production"), home);
  });

  test("between the services two ask auth-keys, two the listener, and nobody calls a public port (rule KEEP-10)", () => {
    const pairs = serviceNames.flatMap((from) => serviceNames.map((to) => [from, to] as const));
    const allowed = pairs.flatMap(([from, to]) =>
      [open, internal]
        .filter((port) => lets({ from: pod(from), to: pod(to), port }))
        .map((port) => `${from} → ${to}:${port}`),
    );
    expect(allowed).toEqual([
      "auth-keys → settlement-listener:8081",
      "links-api → auth-keys:8081",
      "links-api → settlement-listener:8081",
      "webhook-dispatcher → auth-keys:8081",
    ]);
  });

  test("every service reaches what it keeps its state in, and names", () => {
    for (const service of serviceNames) {
      for (const [name, place] of Object.entries(places)) {
        expect([service, name, lets({ from: pod(service), ...place })]).toEqual([
          service,
          name,
          true,
        ]);
      }
      const dns = { from: pod(service), to: podIn("kube-system", { "k8s-app": "kube-dns" }) };
      expect(lets({ ...dns, port: 53, protocol: "UDP" })).toBe(true);
      expect(lets({ ...dns, port: 53 })).toBe(true);
    }
  });

  test("every service reaches them at their own place and port alone", () => {
    for (const service of serviceNames) {
      const from = pod(service);
      expect(lets({ from, to: address("10.30.0.6"), port: 5432 })).toBe(false);
      expect(lets({ from, to: podIn("data"), port: 22 })).toBe(false);
      expect(lets({ from, to: podIn("default"), port: 9093 })).toBe(false);
      expect(lets({ from, to: address("169.254.169.254"), port: 80 })).toBe(false);
    }
  });

  test("webhooks go to public addresses and port 443 alone", () => {
    const from = pod("webhook-dispatcher");
    const reached = (addresses: readonly string[], port: number) =>
      addresses.filter((text) => lets({ from, to: address(text), port }));
    expect(reached(publicAddresses, 443)).toEqual(publicAddresses);
    expect(reached(publicAddresses, 80)).toEqual([]);
    expect(reached([...closed, ...own], 443)).toEqual([]);
  });

  test("besides, only chains and an issuer are asked outside, and links-api asks nobody", () => {
    const reaches = (service: string, text: string) =>
      lets({ from: pod(service), to: address(text), port: 443 });
    expect(serviceNames.filter((service) => reaches(service, "1.1.1.1"))).toEqual([
      "auth-keys",
      "settlement-listener",
      "webhook-dispatcher",
    ]);
    for (const service of serviceNames) {
      expect(closed.filter((text) => reaches(service, text))).toEqual([]);
    }
  });

  test("an issuer is asked at the port that it names", async () => {
    const elsewhere = set({ "authKeys.oidc.issuer": "https://sso.example.com:8443/realms/shops" });
    const moved = createPolicyVerdict(await renderChart("production", elsewhere), home);
    const from = pod("auth-keys");
    const to = address("1.1.1.1");
    expect(moved({ from, to, port: 8443 })).toBe(true);
    expect(lets({ from, to, port: 8443 })).toBe(false);
    expect(closed.filter((text) => moved({ from, to: address(text), port: 8443 }))).toEqual([]);
    // Networks on which contract wallets are asked stay at theirs.
    const wallets = set({ "authKeys.contractWallets": true });
    const both = createPolicyVerdict(
      await renderChart("production", [...elsewhere, ...wallets]),
      home,
    );
    expect([443, 8443].map((port) => both({ from, to, port }))).toEqual([true, true]);
  });

  test("brokers and the collector are reached at the ports in their addresses, besides those given", async () => {
    const elsewhere = set({
      "kafka.brokers": ["kafka-0.data.svc:9094", "kafka-1.data.svc:9095"],
      "tracing.endpoint": "https://otlp.example.com",
    });
    const moved = createPolicyVerdict(await renderChart("production", elsewhere), home);
    const reached = (component: string, to: End, ports: readonly number[]) =>
      ports.filter((port) => moved({ from: pod(component), to, port }));
    for (const component of [...serviceNames, "migrations"]) {
      const ports = reached(component, podIn("data"), [9092, 9093, 9094, 9095]);
      expect(ports).toEqual([9093, 9094, 9095]);
    }
    for (const service of serviceNames) {
      expect(reached(service, podIn("observability"), [80, 443, 4318])).toEqual([443, 4318]);
    }
  });

  test("without an issuer and chains those two ask nobody outside either", async () => {
    const bare = createPolicyVerdict(await renderChart("minimal"), home);
    const asking = serviceNames.filter((service) =>
      bare({ from: pod(service), to: address("1.1.1.1"), port: 443 }),
    );
    expect(asking).toEqual(["webhook-dispatcher"]);
  });

  test("the controller reaches the public ports, Prometheus the internal ones, others neither", () => {
    const ports = (from: End) =>
      serviceNames.flatMap((service) =>
        [open, internal].filter((port) => lets({ from, to: pod(service), port })),
      );
    expect(ports(podIn("ingress"))).toEqual([open, open, open, open]);
    expect(ports(podIn("monitoring"))).toEqual([internal, internal, internal, internal]);
    expect(ports(podIn("default"))).toEqual([]);
    expect(ports(address("1.1.1.1"))).toEqual([]);
    expect(ports({ namespace: home, labels: { app: "another" } })).toEqual([]);
  });

  test("names are asked for at the ports that are given, by every pod", async () => {
    const dnsPorts = set({ "networkPolicy.dnsPorts": [53, 5353] });
    const moved = createPolicyVerdict(await renderChart("production", dnsPorts), home);
    const to = podIn("kube-system", { "k8s-app": "kube-dns" });
    for (const component of [...serviceNames, "migrations", "test"]) {
      const from = pod(component);
      for (const protocol of ["UDP", "TCP"] as const) {
        expect(lets({ from, to, port: 5353, protocol })).toBe(false);
        for (const port of [53, 5353]) expect(moved({ from, to, port, protocol })).toBe(true);
      }
    }
  });

  test("the migrations Job reaches what extraEgress adds, and it alone", async () => {
    const vault = {
      ports: [{ protocol: "TCP", port: 8200 }],
      to: [{ ipBlock: { cidr: "10.40.0.0/16" } }],
    };
    const added = set({ "migrations.extraEgress": [vault] });
    const more = createPolicyVerdict(await renderChart("production", added), home);
    const to = address("10.40.0.1");
    expect(lets({ from: pod("migrations"), to, port: 8200 })).toBe(false);
    expect(more({ from: pod("migrations"), to, port: 8200 })).toBe(true);
    for (const service of serviceNames) {
      expect(more({ from: pod(service), to, port: 8200 })).toBe(false);
    }
  });

  test("the smoke test reaches the services and nothing else, the migrations what they prepare", () => {
    const fromTest = (to: End, port: number) => lets({ from: pod("test"), to, port });
    for (const service of serviceNames) {
      expect([fromTest(pod(service), open), fromTest(pod(service), internal)]).toEqual([
        true,
        true,
      ]);
    }
    const reached = (component: string) =>
      Object.entries(places)
        .filter(([, place]) => lets({ from: pod(component), ...place }))
        .map(([name]) => name);
    expect(reached("test")).toEqual([]);
    expect(reached("migrations")).toEqual(["postgres", "kafka"]);
    expect(lets({ from: pod("migrations"), to: address("1.1.1.1"), port: 443 })).toBe(false);
  });
});
