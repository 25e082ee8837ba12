import { beforeAll, expect, test } from "@jest/globals";
import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import {
  type Manifest,
  containersOf,
  fullName,
  podOf,
  renderChart,
  set,
  topologies,
} from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";

const withHelm = needing("helm");

/** Each block of values that has a pod, and the name of what has that pod. */
const blocks = { ...serviceBlocks, migrations: "migrations", test: "test" };

const find = (manifests: readonly Manifest[], kind: RegExp, name: string): Manifest => {
  const found = manifests.find(
    (one) => kind.test(one.kind) && one.metadata.name === `${fullName}-${name}`,
  );
  if (found === undefined) throw new Error(`there is no ${kind.source} ${name}`);
  return found;
};

type Metadata = { labels?: Record<string, string>; annotations?: Record<string, string> };
type Template = { metadata: Metadata; spec: Record<string, unknown> };

/** A pod as Kubernetes makes it: of a Deployment, the Job or the test. */
const templateOf = (manifests: readonly Manifest[], name: string): Template => {
  const found = find(manifests, /^(?:Deployment|Job|Pod)$/, name);
  if (found.kind === "Pod") return found as unknown as Template;
  return (found as unknown as { spec: { template: Template } }).spec.template;
};

const containerOf = (manifests: readonly Manifest[], block: string, name: string) => {
  const pod = podOf(find(manifests, /^(?:Deployment|Job|Pod)$/, block));
  const container = pod?.containers.find((one) => one.name === name);
  if (container === undefined) throw new Error(`${block} has no container ${name}`);
  return container;
};

const resources = { requests: { cpu: "7m", memory: "77Mi" }, limits: { memory: "177Mi" } };
const placed = {
  nodeSelector: { "example.com/pool": "payments" },
  tolerations: [{ key: "dedicated", operator: "Exists" }],
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  priorityClassName: "business-critical",
  runtimeClassName: "sandbox",
  schedulerName: "by-cost",
  hostAliases: [{ ip: "10.1.2.3", hostnames: ["postgres.internal"] }],
  dnsConfig: { options: [{ name: "ndots", value: "1" }] },
  dnsPolicy: "Default",
  hostUsers: false,
};
const labels = { "example.com/tier": "public" };
const annotations = { "example.com/team": "payments" };

withHelm.describe("where pods run", () => {
  test.each(Object.entries(blocks))(
    "is said in %s for its pod alone, with labels, annotations and resources",
    async (block, name) => {
      const values = { ...placed, podLabels: labels, podAnnotations: annotations, resources };
      const manifests = await renderChart("minimal", set({ [block]: values }));
      const { metadata, spec: pod } = templateOf(manifests, name);
      expect(pod).toMatchObject(placed);
      expect(metadata).toMatchObject({ labels, annotations });
      for (const container of containersOf([find(manifests, /^(?:Deployment|Job|Pod)$/, name)])) {
        expect(container).toMatchObject({ resources });
      }
      for (const other of Object.values(blocks).filter((one) => one !== name)) {
        expect(JSON.stringify(templateOf(manifests, other))).not.toMatch(
          /example\.com\/|business-critical|77Mi|dnsPolicy|hostUsers/,
        );
      }
    },
  );

  test("is by zone and node unless other constraints are given, which select this service's pods", async () => {
    const selector = (component: string) => ({
      matchLabels: {
        "app.kubernetes.io/name": "payment-links",
        "app.kubernetes.io/instance": "pl",
        "app.kubernetes.io/component": component,
      },
    });
    const anyPod = { matchLabels: { any: "pod" } };
    const hard = {
      topologyKey: "example.com/rack",
      maxSkew: 2,
      whenUnsatisfiable: "DoNotSchedule",
    };
    const manifests = await renderChart(
      "minimal",
      set({
        "linksApi.topologySpreadConstraints": [hard, { ...hard, labelSelector: anyPod }],
        "authKeys.topologySpreadConstraints": [],
      }),
    );
    const spread = (name: string) =>
      templateOf(manifests, name).spec["topologySpreadConstraints"] ?? "none";
    const matchLabelKeys = ["pod-template-hash"];
    expect(spread("links-api")).toEqual([
      { ...hard, labelSelector: selector("links-api"), matchLabelKeys },
      { ...hard, labelSelector: anyPod, matchLabelKeys },
    ]);
    expect(spread("auth-keys")).toEqual("none");
    expect(spread("settlement-listener")).toEqual(
      ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
        topologyKey,
        maxSkew: 1,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: selector("settlement-listener"),
        matchLabelKeys,
      })),
    );
  });
});

const extra = {
  extraEnv: [{ name: "EXTRA", value: "1" }],
  extraEnvFrom: [{ configMapRef: { name: "more" } }],
  extraVolumes: [{ name: "extra", emptyDir: {} }],
  extraVolumeMounts: [{ name: "extra", mountPath: "/extra" }],
  extraInitContainers: [
    { name: "proxy", image: "proxy:1", restartPolicy: "Always", securityContext: {} },
  ],
};
const sidecars = [{ name: "sidecar", image: "sidecar:1", securityContext: {} }];
const accountAnnotations = { "example.com/role": "payments" };

withHelm.describe("what operators add to pods", () => {
  test.each(Object.entries(serviceBlocks))(
    "of %s is there, after what is ours",
    async (block, name) => {
      const serviceAccount = { annotations: accountAnnotations };
      const values = { ...extra, extraContainers: sidecars, serviceAccount };
      const manifests = await renderChart("minimal", set({ [block]: values }));
      expect(containerOf(manifests, name, name)).toMatchObject({
        env: expect.arrayContaining([...extra.extraEnv, { name: "HOST", value: "0.0.0.0" }]),
        envFrom: extra.extraEnvFrom,
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }, ...extra.extraVolumeMounts],
      });
      expect(templateOf(manifests, name).spec).toMatchObject({
        initContainers: extra.extraInitContainers,
        containers: [{ name }, ...sidecars],
        volumes: [{ name: "tmp" }, ...extra.extraVolumes],
      });
      const account = find(manifests, /^ServiceAccount$/, name);
      expect(account.metadata.annotations).toEqual(accountAnnotations);
    },
  );

  test.each(Object.entries(serviceBlocks))(
    "to the Service of %s is on it alone",
    async (block, name) => {
      const manifests = await renderChart(
        "minimal",
        set({ [`${block}.service`]: { labels, annotations } }),
      );
      expect(find(manifests, /^Service$/, name).metadata).toMatchObject({ labels, annotations });
      expect(JSON.stringify(manifests).split("example.com/team")).toHaveLength(2);
    },
  );

  test("of the Job is there, before all else, beside the hook's own annotations", async () => {
    const serviceAccount = { annotations: accountAnnotations };
    const manifests = await renderChart(
      "minimal",
      set({ migrations: { ...extra, serviceAccount } }),
    );
    const { spec: pod } = templateOf(manifests, "migrations");
    expect(pod).toMatchObject({ volumes: expect.arrayContaining(extra.extraVolumes) });
    const [first, waiting, asking, ...preparing] = pod["initContainers"] as Record<
      string,
      unknown
    >[];
    expect(first).toEqual(extra.extraInitContainers[0]);
    expect(waiting).toMatchObject({ name: "wait-for-secrets" });
    expect(asking).toMatchObject({ name: "wait-for-servers" });
    for (const container of [...preparing, ...(pod["containers"] as typeof preparing)]) {
      expect(container).toMatchObject({
        env: expect.arrayContaining(extra.extraEnv),
        envFrom: extra.extraEnvFrom,
        volumeMounts: expect.arrayContaining(extra.extraVolumeMounts),
      });
    }
    const account = find(manifests, /^ServiceAccount$/, "migrations");
    expect(account.metadata.annotations).toMatchObject({
      ...accountAnnotations,
      "helm.sh/hook": "pre-install,pre-upgrade",
    });
  });

  test("may be accounts that are there already: none is made then", async () => {
    const accounts = Object.fromEntries(
      [...Object.keys(serviceBlocks), "migrations"].map((block) => [
        block,
        { serviceAccount: { name: `${block}-of-mine`.toLowerCase() } },
      ]),
    );
    const manifests = await renderChart("minimal", set(accounts));
    expect(manifests.filter(({ kind }) => kind === "ServiceAccount")).toEqual([]);
    for (const [block, name] of [
      ...Object.entries(serviceBlocks),
      ["migrations", "migrations"] as const,
    ]) {
      const { serviceAccountName } = templateOf(manifests, name).spec;
      expect(serviceAccountName).toBe(`${block}-of-mine`.toLowerCase());
    }
  });

  test("is nothing by default", async () => {
    for (const { initContainers, containers, volumes } of await podsOf("minimal")) {
      const names = [...initContainers, ...containers, ...volumes].map(({ name }) => name);
      expect(names.filter((name) => /extra|proxy|sidecar/.test(name))).toEqual([]);
    }
  });
});

const podsOf = async (topology: string) =>
  (await renderChart(topology)).map(podOf).filter((pod) => pod !== undefined);

withHelm.describe("the Services' addresses", () => {
  const families = async (more: readonly string[] = []) =>
    (await renderChart("minimal", more))
      .filter(({ kind }) => kind === "Service")
      .map(({ spec }) => spec as Record<string, unknown>)
      .map(({ ipFamilyPolicy, ipFamilies }) => ({ ipFamilyPolicy, ipFamilies }));

  test("are of the families that are given, and of the cluster's own by default", async () => {
    const given = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] };
    const all = Object.keys(serviceBlocks);
    expect(await families(set({ ...given, listenAddress: "::" }))).toEqual(all.map(() => given));
    expect(await families()).toEqual(all.map(() => ({})));
  });
});

withHelm.describe("security contexts", () => {
  const ofPod = {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  };
  const ofContainer = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  };
  const contextsOf = (manifests: readonly Manifest[], name: string) => {
    const found = find(manifests, /^(?:Deployment|Job|Pod|StatefulSet)$/, name);
    return {
      pod: podOf(found)?.securityContext,
      containers: containersOf([found]).map(({ securityContext }) => securityContext),
    };
  };

  test.each(Object.entries(blocks))(
    "of %s are its own over those of all, field by field, in its pod alone",
    async (block, name) => {
      const own = {
        podSecurityContext: { fsGroup: 1_000_650_000, seccompProfile: { localhostProfile: "a" } },
        containerSecurityContext: {
          readOnlyRootFilesystem: false,
          capabilities: { add: ["NET_BIND_SERVICE"] },
        },
      };
      const manifests = await renderChart("minimal", set({ [block]: own }));
      const { pod, containers } = contextsOf(manifests, name);
      expect(pod).toEqual({
        ...ofPod,
        fsGroup: 1_000_650_000,
        seccompProfile: { type: "RuntimeDefault", localhostProfile: "a" },
      });
      expect(containers).toEqual(
        containers.map(() => ({
          ...ofContainer,
          readOnlyRootFilesystem: false,
          capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
        })),
      );
      for (const other of Object.values(blocks).filter((one) => one !== name)) {
        const found = contextsOf(manifests, other);
        expect(found.pod).toEqual(ofPod);
        expect(found.containers).toEqual(found.containers.map(() => ofContainer));
      }
    },
  );

  test("have a field of all changed or taken away everywhere, and one of a block there alone", async () => {
    const { runAsUser: _user, runAsGroup: _group, ...left } = ofPod;
    const manifests = await renderChart("minimal", [
      ...set({ podSecurityContext: { runAsUser: null, fsGroup: 2000 } }),
      ...set({ "containerSecurityContext.readOnlyRootFilesystem": null }),
      ...set({ "linksApi.podSecurityContext": { runAsGroup: null, fsGroup: null } }),
    ]);
    const { readOnlyRootFilesystem: _root, ...leftOfContainer } = ofContainer;
    for (const name of Object.values(blocks)) {
      const { pod, containers } = contextsOf(manifests, name);
      const own = name === "links-api" ? left : { ...left, runAsGroup: 65532, fsGroup: 2000 };
      expect([name, pod]).toEqual([name, own]);
      expect(containers).toEqual(containers.map(() => leftOfContainer));
    }
  });

  test("of quickstart's servers are those of all, but for the users of their images", async () => {
    const manifests = await renderChart("quickstart", [
      ...set({ podSecurityContext: { runAsUser: 2000, seLinuxOptions: { level: "s0:c1" } } }),
      ...set({ containerSecurityContext: { runAsUser: 3000, runAsNonRoot: true } }),
    ]);
    const users = { postgres: 999, kafka: 1000, redis: 999, origin: 101 };
    for (const [name, user] of Object.entries(users)) {
      expect(contextsOf(manifests, name)).toEqual({
        pod: {
          ...ofPod,
          runAsUser: user,
          runAsGroup: user,
          fsGroup: user,
          seLinuxOptions: { level: "s0:c1" },
        },
        containers: [{ ...ofContainer, runAsNonRoot: true }],
      });
    }
  });
});

withHelm.describe("an upgrade", () => {
  const changes = async (more: readonly string[] = []) => {
    const manifests = await renderChart("minimal", more);
    return Object.values(serviceBlocks).map((name) => {
      const { spec } = find(manifests, /^Deployment$/, name);
      const { strategy, minReadySeconds } = spec as Record<string, unknown>;
      return { strategy, minReadySeconds };
    });
  };
  const moving = (maxSurge: number | string, maxUnavailable: number | string) => ({
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
  });

  test("starts one pod more before it ends one, unless more is said", async () => {
    expect(await changes()).toEqual(Object.values(serviceBlocks).map(() => moving(1, 0)));
  });

  test("replaces as many pods of a service as its own values say, each as long ready", async () => {
    const all = Object.keys(serviceBlocks);
    for (const [index, block] of all.entries()) {
      const expected: object[] = all.map(() => moving(1, 0));
      expected[index] = { ...moving(0, "25%"), minReadySeconds: 20 };
      const values = { ...moving(0, "25%"), minReadySeconds: 20 };
      expect(await changes(set({ [block]: values }))).toEqual(expected);
    }
  });
});

withHelm.describe("probes", () => {
  test("ask as often as the values say, and always the same", async () => {
    const times = (factor: number) => ({
      periodSeconds: factor,
      timeoutSeconds: factor + 1,
      failureThreshold: factor + 2,
    });
    const probes = { startup: times(10), readiness: times(20), liveness: times(30) };
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const manifests = await renderChart("minimal", set({ [`${block}.probes`]: probes }));
      const live = { path: "/livez", port: "internal" };
      expect(containerOf(manifests, name, name)).toMatchObject({
        startupProbe: { ...times(10), httpGet: live },
        readinessProbe: { ...times(20), httpGet: { path: "/readyz", port: "internal" } },
        livenessProbe: { ...times(30), httpGet: live, terminationGracePeriodSeconds: 5 },
      });
    }
  });
});

withHelm.describe("an image of its own", () => {
  test("has its registry, path, tag and pull policy before those of all, wherever it is run", async () => {
    const own = { registry: "other.example.com", repository: "that-one", tag: "9.9.9" };
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const manifests = await renderChart("minimal", [
        ...set({ "image.registry": "registry.example.com", "image.pullPolicy": "Always" }),
        ...set({ [`${block}.image`]: { ...own, pullPolicy: "Never" } }),
      ]);
      const containers = containersOf(manifests);
      const given = containers.filter(({ image }) => image === "other.example.com/that-one:9.9.9");
      expect(given.map((container) => container.name)).toEqual(
        expect.arrayContaining([name, name]),
      );
      const rest = containers.filter((container) => !given.includes(container));
      expect(rest.length).toBeGreaterThanOrEqual(6);
      for (const { image } of rest)
        expect(image).toMatch(/^registry\.example\.com\/payment-links\//);
      const policies = (some: readonly unknown[]) =>
        new Set((some as { imagePullPolicy: string }[]).map((one) => one.imagePullPolicy));
      expect([policies(given), policies(rest)]).toEqual([new Set(["Never"]), new Set(["Always"])]);
    }
  });

  test("of quickstart's servers is pulled by its own policy, if it has one", async () => {
    const policies = async (more: Record<string, unknown>) =>
      new Set(
        containersOf(await renderChart("quickstart", set({ "image.pullPolicy": "Never", ...more })))
          .filter(({ image }) => !image.includes("payment-links/"))
          .map((container) => container["imagePullPolicy"]),
      );
    expect(await policies({ "quickstart.pullPolicy": "IfNotPresent" })).toEqual(
      new Set(["IfNotPresent"]),
    );
    expect(await policies({})).toEqual(new Set(["Never"]));
  });

  test("has its path and tag before those of all, with the same registry, in Deployment and Job", async () => {
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const manifests = await renderChart("minimal", [
        ...set({ "image.registry": "registry.example.com", "image.tag": "1.2.3" }),
        ...set({ [`${block}.image`]: { repository: "mirror/that-one", tag: "9.9.9" } }),
      ]);
      const images = containersOf(manifests)
        .filter((container) => container.name === name)
        .map(({ image }) => image);
      expect(images).toEqual(images.map(() => "registry.example.com/mirror/that-one:9.9.9"));
      expect(images).toHaveLength(2);
      const others = containersOf(manifests).filter(({ image }) => image.endsWith(":1.2.3"));
      expect(others.length).toBeGreaterThanOrEqual(6);
    }
  });

  test("is pulled with the credentials that are named, by every pod", async () => {
    const manifests = await renderChart("minimal", set({ "image.pullSecrets": ["one", "two"] }));
    for (const name of Object.values(blocks)) {
      expect(templateOf(manifests, name).spec).toMatchObject({
        imagePullSecrets: [{ name: "one" }, { name: "two" }],
      });
    }
  });
});

withHelm.describe("common labels and annotations", () => {
  const rendered = new Map<string, Manifest[]>();
  beforeAll(async () => {
    const common = set({ commonLabels: labels, commonAnnotations: annotations });
    for (const topology of topologies) rendered.set(topology, await renderChart(topology, common));
  });

  test.each(topologies)("are on everything that %s makes, and select nothing", (topology) => {
    // Extra objects are an operator's own.
    const ours = (rendered.get(topology) ?? []).filter(
      ({ metadata }) => !metadata.name.endsWith("-extra"),
    );
    expect(ours.length).toBeGreaterThan(15);
    for (const { kind, metadata, spec } of ours) {
      expect({ kind, ...metadata }).toMatchObject({ kind, labels, annotations });
      const { selector, podSelector } = (spec ?? {}) as Record<string, unknown>;
      expect(JSON.stringify([selector, podSelector])).not.toContain("example.com/tier");
    }
  });

  test("are on pods only as labels, and a pod's own label wins", async () => {
    const manifests = await renderChart("minimal", [
      ...set({ commonLabels: labels, commonAnnotations: annotations }),
      ...set({ "authKeys.podLabels": { "example.com/tier": "inner" } }),
    ]);
    for (const name of [...Object.values(serviceBlocks), "migrations"]) {
      const { metadata } = templateOf(manifests, name);
      const tier = name === "auth-keys" ? "inner" : "public";
      expect([name, metadata.labels]).toMatchObject([name, { "example.com/tier": tier }]);
      expect(metadata.annotations ?? {}).not.toHaveProperty(["example.com/team"]);
    }
  });
});
