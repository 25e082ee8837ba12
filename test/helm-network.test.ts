import { beforeAll, expect, test } from "@jest/globals";
import {
  type Connection,
  type NetworkEndpoint,
  createPolicyEvaluator,
} from "./helm/policy-evaluator.ts";
import { renderChart, serviceNames, buildSetArgs } from "./helm/render-chart.ts";
import { requireTools } from "./helm/require-tools.ts";

const helmSuite = requireTools("helm");

const releaseNamespace = { "kubernetes.io/metadata.name": "shop" };
const createPodEndpoint = (component: string): NetworkEndpoint => ({
  namespace: releaseNamespace,
  labels: {
    "app.kubernetes.io/name": "payment-links",
    "app.kubernetes.io/instance": "pl",
    "app.kubernetes.io/component": component,
  },
});
const createForeignPodEndpoint = (
  namespace: string,
  labels: Record<string, string> = {},
): NetworkEndpoint => ({
  namespace: { "kubernetes.io/metadata.name": namespace },
  labels,
});
const createAddressEndpoint = (ipAddress: string): NetworkEndpoint => ({ address: ipAddress });

const [publicPort, internalPort] = [8080, 8081];

/** The addresses of the dependencies in the values of the `production` topology. */
const dependencyEndpoints: Record<string, { to: NetworkEndpoint; port: number }> = {
  postgres: { to: createAddressEndpoint("10.30.0.5"), port: 5432 },
  kafka: { to: createForeignPodEndpoint("data"), port: 9093 },
  redis: { to: createForeignPodEndpoint("data"), port: 6379 },
  tracing: { to: createForeignPodEndpoint("observability"), port: 4318 },
};

/** One address of each kind that webhooks must never reach. */
const reservedAddresses = [
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
/** The operator's own addresses, which `networkPolicy.webhookExcept` excludes. */
const operatorAddresses = ["203.0.114.7", "2a00:1450:4000::1"];

helmSuite.describe("the network policies", () => {
  let isAllowed: (connection: Connection) => boolean = () => false;
  beforeAll(async () => {
    isAllowed = createPolicyEvaluator(await renderChart("production"), releaseNamespace);
  });

  test("let two services call auth-keys, two the listener, and none a public port (rule KEEP-10)", () => {
    const servicePairs = serviceNames.flatMap((callerName) =>
      serviceNames.map((calleeName) => [callerName, calleeName] as const),
    );
    const allowedConnections = servicePairs.flatMap(([callerName, calleeName]) =>
      [publicPort, internalPort]
        .filter((port) =>
          isAllowed({
            from: createPodEndpoint(callerName),
            to: createPodEndpoint(calleeName),
            port,
          }),
        )
        .map((port) => `${callerName} → ${calleeName}:${port}`),
    );
    expect(allowedConnections).toEqual([
      "auth-keys → settlement-listener:8081",
      "links-api → auth-keys:8081",
      "links-api → settlement-listener:8081",
      "webhook-dispatcher → auth-keys:8081",
    ]);
  });

  test("let every service reach its dependencies and DNS", () => {
    for (const service of serviceNames) {
      for (const [name, dependency] of Object.entries(dependencyEndpoints)) {
        expect([
          service,
          name,
          isAllowed({ from: createPodEndpoint(service), ...dependency }),
        ]).toEqual([service, name, true]);
      }
      const dnsConnection = {
        from: createPodEndpoint(service),
        to: createForeignPodEndpoint("kube-system", { "k8s-app": "kube-dns" }),
      };
      expect(isAllowed({ ...dnsConnection, port: 53, protocol: "UDP" })).toBe(true);
      expect(isAllowed({ ...dnsConnection, port: 53 })).toBe(true);
    }
  });

  test("let every service reach its dependencies only at their own address and port", () => {
    for (const service of serviceNames) {
      const from = createPodEndpoint(service);
      expect(isAllowed({ from, to: createAddressEndpoint("10.30.0.6"), port: 5432 })).toBe(false);
      expect(isAllowed({ from, to: createForeignPodEndpoint("data"), port: 22 })).toBe(false);
      expect(isAllowed({ from, to: createForeignPodEndpoint("default"), port: 9093 })).toBe(false);
      expect(isAllowed({ from, to: createAddressEndpoint("169.254.169.254"), port: 80 })).toBe(
        false,
      );
    }
  });

  test("let webhooks reach only public addresses on port 443", () => {
    const from = createPodEndpoint("webhook-dispatcher");
    const listReachable = (addresses: readonly string[], port: number) =>
      addresses.filter((ipAddress) =>
        isAllowed({ from, to: createAddressEndpoint(ipAddress), port }),
      );
    expect(listReachable(publicAddresses, 443)).toEqual(publicAddresses);
    expect(listReachable(publicAddresses, 80)).toEqual([]);
    expect(listReachable([...reservedAddresses, ...operatorAddresses], 443)).toEqual([]);
  });

  test("let all services except links-api reach public addresses on port 443, and none a reserved address", () => {
    const isReachable = (service: string, ipAddress: string) =>
      isAllowed({
        from: createPodEndpoint(service),
        to: createAddressEndpoint(ipAddress),
        port: 443,
      });
    expect(serviceNames.filter((service) => isReachable(service, "1.1.1.1"))).toEqual([
      "auth-keys",
      "settlement-listener",
      "webhook-dispatcher",
    ]);
    for (const service of serviceNames) {
      expect(reservedAddresses.filter((ipAddress) => isReachable(service, ipAddress))).toEqual([]);
    }
  });

  test("allow the port in the issuer's URL", async () => {
    const overrideArgs = buildSetArgs({
      "authKeys.oidc.issuer": "https://sso.example.com:8443/realms/shops",
    });
    const isAllowedAfterChange = createPolicyEvaluator(
      await renderChart("production", overrideArgs),
      releaseNamespace,
    );
    const from = createPodEndpoint("auth-keys");
    const to = createAddressEndpoint("1.1.1.1");
    expect(isAllowedAfterChange({ from, to, port: 8443 })).toBe(true);
    expect(isAllowed({ from, to, port: 8443 })).toBe(false);
    expect(
      reservedAddresses.filter((ipAddress) =>
        isAllowedAfterChange({ from, to: createAddressEndpoint(ipAddress), port: 8443 }),
      ),
    ).toEqual([]);
    // The rule for contract wallets still uses its own port.
    const walletArgs = buildSetArgs({ "authKeys.contractWallets": true });
    const isAllowedWithWallets = createPolicyEvaluator(
      await renderChart("production", [...overrideArgs, ...walletArgs]),
      releaseNamespace,
    );
    expect([443, 8443].map((port) => isAllowedWithWallets({ from, to, port }))).toEqual([
      true,
      true,
    ]);
  });

  test("allow only auth-keys to reach the SMTP server, if emails are sent", async () => {
    const overrideArgs = buildSetArgs({ "email.from": "shop@example.com" });
    const isAllowedAfterChange = createPolicyEvaluator(
      await renderChart("production", overrideArgs),
      releaseNamespace,
    );
    const to = createAddressEndpoint("1.1.1.1");
    for (const port of [465, 587]) {
      const listSenders = (isAllowedTo: typeof isAllowed) =>
        serviceNames.filter((service) =>
          isAllowedTo({ from: createPodEndpoint(service), to, port }),
        );
      expect(listSenders(isAllowedAfterChange)).toEqual(["auth-keys"]);
      expect(listSenders(isAllowed)).toEqual([]);
    }
  });

  test("allow the ports in the addresses of brokers and collector, in addition to the configured ones", async () => {
    const overrideArgs = buildSetArgs({
      "kafka.brokers": ["kafka-0.data.svc:9094", "kafka-1.data.svc:9095"],
      "tracing.endpoint": "https://otlp.example.com",
    });
    const isAllowedAfterChange = createPolicyEvaluator(
      await renderChart("production", overrideArgs),
      releaseNamespace,
    );
    const listReachable = (component: string, to: NetworkEndpoint, ports: readonly number[]) =>
      ports.filter((port) =>
        isAllowedAfterChange({ from: createPodEndpoint(component), to, port }),
      );
    for (const component of [...serviceNames, "migrations"]) {
      const allowedPorts = listReachable(
        component,
        createForeignPodEndpoint("data"),
        [9092, 9093, 9094, 9095],
      );
      expect(allowedPorts).toEqual([9093, 9094, 9095]);
    }
    for (const service of serviceNames) {
      expect(
        listReachable(service, createForeignPodEndpoint("observability"), [80, 443, 4318]),
      ).toEqual([443, 4318]);
    }
  });

  test("without an issuer and chains, give auth-keys and settlement-listener no internet access", async () => {
    const isAllowedInMinimal = createPolicyEvaluator(
      await renderChart("minimal"),
      releaseNamespace,
    );
    const servicesWithInternetAccess = serviceNames.filter((service) =>
      isAllowedInMinimal({
        from: createPodEndpoint(service),
        to: createAddressEndpoint("1.1.1.1"),
        port: 443,
      }),
    );
    expect(servicesWithInternetAccess).toEqual(["webhook-dispatcher"]);
  });

  test("let the controller reach public ports, Prometheus internal ones, and others neither", () => {
    const listAllowedPorts = (from: NetworkEndpoint) =>
      serviceNames.flatMap((service) =>
        [publicPort, internalPort].filter((port) =>
          isAllowed({ from, to: createPodEndpoint(service), port }),
        ),
      );
    expect(listAllowedPorts(createForeignPodEndpoint("ingress"))).toEqual([
      publicPort,
      publicPort,
      publicPort,
      publicPort,
    ]);
    expect(listAllowedPorts(createForeignPodEndpoint("monitoring"))).toEqual([
      internalPort,
      internalPort,
      internalPort,
      internalPort,
    ]);
    expect(listAllowedPorts(createForeignPodEndpoint("default"))).toEqual([]);
    expect(listAllowedPorts(createAddressEndpoint("1.1.1.1"))).toEqual([]);
    expect(listAllowedPorts({ namespace: releaseNamespace, labels: { app: "another" } })).toEqual(
      [],
    );
  });

  test("let every pod use the configured DNS ports", async () => {
    const dnsPortArgs = buildSetArgs({ "networkPolicy.dnsPorts": [53, 5353] });
    const isAllowedAfterChange = createPolicyEvaluator(
      await renderChart("production", dnsPortArgs),
      releaseNamespace,
    );
    const to = createForeignPodEndpoint("kube-system", { "k8s-app": "kube-dns" });
    for (const component of [...serviceNames, "migrations", "test"]) {
      const from = createPodEndpoint(component);
      for (const protocol of ["UDP", "TCP"] as const) {
        expect(isAllowed({ from, to, port: 5353, protocol })).toBe(false);
        for (const port of [53, 5353])
          expect(isAllowedAfterChange({ from, to, port, protocol })).toBe(true);
      }
    }
  });

  test("give what extraEgress adds only to the migrations Job", async () => {
    const vaultRule = {
      ports: [{ protocol: "TCP", port: 8200 }],
      to: [{ ipBlock: { cidr: "10.40.0.0/16" } }],
    };
    const extraEgressArgs = buildSetArgs({ "migrations.extraEgress": [vaultRule] });
    const isAllowedWithExtraEgress = createPolicyEvaluator(
      await renderChart("production", extraEgressArgs),
      releaseNamespace,
    );
    const to = createAddressEndpoint("10.40.0.1");
    expect(isAllowed({ from: createPodEndpoint("migrations"), to, port: 8200 })).toBe(false);
    expect(
      isAllowedWithExtraEgress({ from: createPodEndpoint("migrations"), to, port: 8200 }),
    ).toBe(true);
    for (const service of serviceNames) {
      expect(isAllowedWithExtraEgress({ from: createPodEndpoint(service), to, port: 8200 })).toBe(
        false,
      );
    }
  });

  test("let the smoke test reach only the services, and the migrations only what they prepare", () => {
    const isAllowedFromTest = (to: NetworkEndpoint, port: number) =>
      isAllowed({ from: createPodEndpoint("test"), to, port });
    for (const service of serviceNames) {
      expect([
        isAllowedFromTest(createPodEndpoint(service), publicPort),
        isAllowedFromTest(createPodEndpoint(service), internalPort),
      ]).toEqual([true, true]);
    }
    const listReachable = (component: string) =>
      Object.entries(dependencyEndpoints)
        .filter(([, dependency]) =>
          isAllowed({ from: createPodEndpoint(component), ...dependency }),
        )
        .map(([name]) => name);
    expect(listReachable("test")).toEqual([]);
    expect(listReachable("migrations")).toEqual(["postgres", "kafka"]);
    expect(
      isAllowed({
        from: createPodEndpoint("migrations"),
        to: createAddressEndpoint("1.1.1.1"),
        port: 443,
      }),
    ).toBe(false);
  });
});
