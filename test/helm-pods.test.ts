import { beforeAll, expect, test } from "@jest/globals";
import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import {
  type Manifest,
  listContainers,
  releaseFullName,
  getPodSpec,
  renderChart,
  buildSetArgs,
  topologies,
} from "./helm/render-chart.ts";
import { requireTools } from "./helm/require-tools.ts";

const helmSuite = requireTools("helm");

/**
 * Each key in values.yaml that configures a pod, with the name of the object that creates the pod.
 */
const namesByBlock = { ...serviceBlocks, migrations: "migrations", test: "test" };

const findManifest = (manifests: readonly Manifest[], kind: RegExp, name: string): Manifest => {
  const manifest = manifests.find(
    (candidate) =>
      kind.test(candidate.kind) && candidate.metadata.name === `${releaseFullName}-${name}`,
  );
  if (manifest === undefined) throw new Error(`the chart rendered no ${kind.source} ${name}`);
  return manifest;
};

type Metadata = { labels?: Record<string, string>; annotations?: Record<string, string> };
type Template = { metadata: Metadata; spec: Record<string, unknown> };

/** Returns the pod template of a Deployment or the Job, or the pod of the test. */
const getPodTemplate = (manifests: readonly Manifest[], name: string): Template => {
  const manifest = findManifest(manifests, /^(?:Deployment|Job|Pod)$/, name);
  if (manifest.kind === "Pod") return manifest as unknown as Template;
  return (manifest as unknown as { spec: { template: Template } }).spec.template;
};

const getContainer = (manifests: readonly Manifest[], block: string, name: string) => {
  const pod = getPodSpec(findManifest(manifests, /^(?:Deployment|Job|Pod)$/, block));
  const container = pod?.containers.find((candidate) => candidate.name === name);
  if (container === undefined) throw new Error(`${block} has no container ${name}`);
  return container;
};

const resourceValues = { requests: { cpu: "7m", memory: "77Mi" }, limits: { memory: "177Mi" } };
const schedulingValues = {
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

helmSuite.describe("pod placement", () => {
  test.each(Object.entries(namesByBlock))(
    "is set by %s only for its own pods, along with labels, annotations and resources",
    async (block, name) => {
      const values = {
        ...schedulingValues,
        podLabels: labels,
        podAnnotations: annotations,
        resources: resourceValues,
      };
      const manifests = await renderChart("minimal", buildSetArgs({ [block]: values }));
      const { metadata, spec: pod } = getPodTemplate(manifests, name);
      expect(pod).toMatchObject(schedulingValues);
      expect(metadata).toMatchObject({ labels, annotations });
      for (const container of listContainers([
        findManifest(manifests, /^(?:Deployment|Job|Pod)$/, name),
      ])) {
        expect(container).toMatchObject({ resources: resourceValues });
      }
      for (const otherName of Object.values(namesByBlock).filter(
        (candidate) => candidate !== name,
      )) {
        expect(JSON.stringify(getPodTemplate(manifests, otherName))).not.toMatch(
          /example\.com\/|business-critical|77Mi|dnsPolicy|hostUsers/,
        );
      }
    },
  );

  test("defaults to a spread by zone and node; other constraints select this service's pods", async () => {
    const createSelector = (component: string) => ({
      matchLabels: {
        "app.kubernetes.io/name": "payment-links",
        "app.kubernetes.io/instance": "pl",
        "app.kubernetes.io/component": component,
      },
    });
    const anyPodSelector = { matchLabels: { any: "pod" } };
    const rackConstraint = {
      topologyKey: "example.com/rack",
      maxSkew: 2,
      whenUnsatisfiable: "DoNotSchedule",
    };
    const manifests = await renderChart(
      "minimal",
      buildSetArgs({
        "linksApi.topologySpreadConstraints": [
          rackConstraint,
          { ...rackConstraint, labelSelector: anyPodSelector },
        ],
        "authKeys.topologySpreadConstraints": [],
      }),
    );
    const getSpreadConstraints = (name: string) =>
      getPodTemplate(manifests, name).spec["topologySpreadConstraints"] ?? "none";
    const matchLabelKeys = ["pod-template-hash"];
    expect(getSpreadConstraints("links-api")).toEqual([
      { ...rackConstraint, labelSelector: createSelector("links-api"), matchLabelKeys },
      { ...rackConstraint, labelSelector: anyPodSelector, matchLabelKeys },
    ]);
    expect(getSpreadConstraints("auth-keys")).toEqual("none");
    expect(getSpreadConstraints("settlement-listener")).toEqual(
      ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
        topologyKey,
        maxSkew: 1,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: createSelector("settlement-listener"),
        matchLabelKeys,
      })),
    );
  });
});

const extraValues = {
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

helmSuite.describe("additional pod configuration", () => {
  test.each(Object.entries(serviceBlocks))(
    "for %s comes after the chart's own entries",
    async (block, name) => {
      const serviceAccount = { annotations: accountAnnotations };
      const values = { ...extraValues, extraContainers: sidecars, serviceAccount };
      const manifests = await renderChart("minimal", buildSetArgs({ [block]: values }));
      expect(getContainer(manifests, name, name)).toMatchObject({
        env: expect.arrayContaining([...extraValues.extraEnv, { name: "HOST", value: "0.0.0.0" }]),
        envFrom: extraValues.extraEnvFrom,
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }, ...extraValues.extraVolumeMounts],
      });
      expect(getPodTemplate(manifests, name).spec).toMatchObject({
        initContainers: extraValues.extraInitContainers,
        containers: [{ name }, ...sidecars],
        volumes: [{ name: "tmp" }, ...extraValues.extraVolumes],
      });
      const serviceAccountManifest = findManifest(manifests, /^ServiceAccount$/, name);
      expect(serviceAccountManifest.metadata.annotations).toEqual(accountAnnotations);
    },
  );

  test.each(Object.entries(serviceBlocks))(
    "for the Service of %s is only on that Service",
    async (block, name) => {
      const manifests = await renderChart(
        "minimal",
        buildSetArgs({ [`${block}.service`]: { labels, annotations } }),
      );
      expect(findManifest(manifests, /^Service$/, name).metadata).toMatchObject({
        labels,
        annotations,
      });
      expect(JSON.stringify(manifests).split("example.com/team")).toHaveLength(2);
    },
  );

  test("for the Job comes before everything else, next to the hook's own annotations", async () => {
    const serviceAccount = { annotations: accountAnnotations };
    const manifests = await renderChart(
      "minimal",
      buildSetArgs({ migrations: { ...extraValues, serviceAccount } }),
    );
    const { spec: pod } = getPodTemplate(manifests, "migrations");
    expect(pod).toMatchObject({ volumes: expect.arrayContaining(extraValues.extraVolumes) });
    const [firstInitContainer, secretsStep, serversStep, ...prepareSteps] = pod[
      "initContainers"
    ] as Record<string, unknown>[];
    expect(firstInitContainer).toEqual(extraValues.extraInitContainers[0]);
    expect(secretsStep).toMatchObject({ name: "wait-for-secrets" });
    expect(serversStep).toMatchObject({ name: "wait-for-servers" });
    for (const container of [...prepareSteps, ...(pod["containers"] as typeof prepareSteps)]) {
      expect(container).toMatchObject({
        env: expect.arrayContaining(extraValues.extraEnv),
        envFrom: extraValues.extraEnvFrom,
        volumeMounts: expect.arrayContaining(extraValues.extraVolumeMounts),
      });
    }
    const serviceAccountManifest = findManifest(manifests, /^ServiceAccount$/, "migrations");
    expect(serviceAccountManifest.metadata.annotations).toMatchObject({
      ...accountAnnotations,
      "helm.sh/hook": "pre-install,pre-upgrade",
    });
  });

  test("may include existing service accounts, and none is created then", async () => {
    const accounts = Object.fromEntries(
      [...Object.keys(serviceBlocks), "migrations"].map((block) => [
        block,
        { serviceAccount: { name: `${block}-of-mine`.toLowerCase() } },
      ]),
    );
    const manifests = await renderChart("minimal", buildSetArgs(accounts));
    expect(manifests.filter(({ kind }) => kind === "ServiceAccount")).toEqual([]);
    for (const [block, name] of [
      ...Object.entries(serviceBlocks),
      ["migrations", "migrations"] as const,
    ]) {
      const { serviceAccountName } = getPodTemplate(manifests, name).spec;
      expect(serviceAccountName).toBe(`${block}-of-mine`.toLowerCase());
    }
  });

  test("is empty by default", async () => {
    for (const { initContainers, containers, volumes } of await listPods("minimal")) {
      const names = [...initContainers, ...containers, ...volumes].map(({ name }) => name);
      expect(names.filter((name) => /extra|proxy|sidecar/.test(name))).toEqual([]);
    }
  });
});

const listPods = async (topology: string) =>
  (await renderChart(topology)).map(getPodSpec).filter((pod) => pod !== undefined);

helmSuite.describe("the Services' addresses", () => {
  const readIpFamilies = async (extraArgs: readonly string[] = []) =>
    (await renderChart("minimal", extraArgs))
      .filter(({ kind }) => kind === "Service")
      .map(({ spec }) => spec as Record<string, unknown>)
      .map(({ ipFamilyPolicy, ipFamilies }) => ({ ipFamilyPolicy, ipFamilies }));

  test("use the configured IP families, and the cluster's own by default", async () => {
    const addressFamilies = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] };
    const blockNames = Object.keys(serviceBlocks);
    expect(await readIpFamilies(buildSetArgs({ ...addressFamilies, listenAddress: "::" }))).toEqual(
      blockNames.map(() => addressFamilies),
    );
    expect(await readIpFamilies()).toEqual(blockNames.map(() => ({})));
  });
});

helmSuite.describe("security contexts", () => {
  const defaultPodContext = {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  };
  const defaultContainerContext = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  };
  const getSecurityContexts = (manifests: readonly Manifest[], name: string) => {
    const manifest = findManifest(manifests, /^(?:Deployment|Job|Pod|StatefulSet)$/, name);
    return {
      pod: getPodSpec(manifest)?.securityContext,
      containers: listContainers([manifest]).map(({ securityContext }) => securityContext),
    };
  };

  test.each(Object.entries(namesByBlock))(
    "of %s override the common ones field by field, only in its own pods",
    async (block, name) => {
      const blockContexts = {
        podSecurityContext: { fsGroup: 1_000_650_000, seccompProfile: { localhostProfile: "a" } },
        containerSecurityContext: {
          readOnlyRootFilesystem: false,
          capabilities: { add: ["NET_BIND_SERVICE"] },
        },
      };
      const manifests = await renderChart("minimal", buildSetArgs({ [block]: blockContexts }));
      const { pod, containers } = getSecurityContexts(manifests, name);
      expect(pod).toEqual({
        ...defaultPodContext,
        fsGroup: 1_000_650_000,
        seccompProfile: { type: "RuntimeDefault", localhostProfile: "a" },
      });
      expect(containers).toEqual(
        containers.map(() => ({
          ...defaultContainerContext,
          readOnlyRootFilesystem: false,
          capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
        })),
      );
      for (const otherName of Object.values(namesByBlock).filter(
        (candidate) => candidate !== name,
      )) {
        const otherContexts = getSecurityContexts(manifests, otherName);
        expect(otherContexts.pod).toEqual(defaultPodContext);
        expect(otherContexts.containers).toEqual(
          otherContexts.containers.map(() => defaultContainerContext),
        );
      }
    },
  );

  test("let a common field be changed or removed everywhere, and a block's field only there", async () => {
    const {
      runAsUser: _runAsUser,
      runAsGroup: _runAsGroup,
      ...remainingPodContext
    } = defaultPodContext;
    const manifests = await renderChart("minimal", [
      ...buildSetArgs({ podSecurityContext: { runAsUser: null, fsGroup: 2000 } }),
      ...buildSetArgs({ "containerSecurityContext.readOnlyRootFilesystem": null }),
      ...buildSetArgs({ "linksApi.podSecurityContext": { runAsGroup: null, fsGroup: null } }),
    ]);
    const { readOnlyRootFilesystem: _readOnlyRootFilesystem, ...remainingContainerContext } =
      defaultContainerContext;
    for (const name of Object.values(namesByBlock)) {
      const { pod, containers } = getSecurityContexts(manifests, name);
      const expectedPodContext =
        name === "links-api"
          ? remainingPodContext
          : { ...remainingPodContext, runAsGroup: 65532, fsGroup: 2000 };
      expect([name, pod]).toEqual([name, expectedPodContext]);
      expect(containers).toEqual(containers.map(() => remainingContainerContext));
    }
  });

  test("of quickstart's servers are the common ones, except for their images' users", async () => {
    const manifests = await renderChart("quickstart", [
      ...buildSetArgs({
        podSecurityContext: { runAsUser: 2000, seLinuxOptions: { level: "s0:c1" } },
      }),
      ...buildSetArgs({ containerSecurityContext: { runAsUser: 3000, runAsNonRoot: true } }),
    ]);
    const users = { postgres: 999, kafka: 1000, redis: 999, origin: 101 };
    for (const [name, user] of Object.entries(users)) {
      expect(getSecurityContexts(manifests, name)).toEqual({
        pod: {
          ...defaultPodContext,
          runAsUser: user,
          runAsGroup: user,
          fsGroup: user,
          seLinuxOptions: { level: "s0:c1" },
        },
        containers: [{ ...defaultContainerContext, runAsNonRoot: true }],
      });
    }
  });
});

helmSuite.describe("an upgrade", () => {
  const readUpdateStrategies = async (extraArgs: readonly string[] = []) => {
    const manifests = await renderChart("minimal", extraArgs);
    return Object.values(serviceBlocks).map((name) => {
      const { spec } = findManifest(manifests, /^Deployment$/, name);
      const { strategy, minReadySeconds } = spec as Record<string, unknown>;
      return { strategy, minReadySeconds };
    });
  };
  const createRollingUpdate = (maxSurge: number | string, maxUnavailable: number | string) => ({
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
  });

  test("starts one additional pod before it ends one, unless configured otherwise", async () => {
    expect(await readUpdateStrategies()).toEqual(
      Object.values(serviceBlocks).map(() => createRollingUpdate(1, 0)),
    );
  });

  test("follows the strategy and readiness time of each service's values", async () => {
    const blockNames = Object.keys(serviceBlocks);
    for (const [index, block] of blockNames.entries()) {
      const expected: object[] = blockNames.map(() => createRollingUpdate(1, 0));
      expected[index] = { ...createRollingUpdate(0, "25%"), minReadySeconds: 20 };
      const values = { ...createRollingUpdate(0, "25%"), minReadySeconds: 20 };
      expect(await readUpdateStrategies(buildSetArgs({ [block]: values }))).toEqual(expected);
    }
  });
});

helmSuite.describe("probes", () => {
  test("use the configured times, and always the same endpoints", async () => {
    const createProbeTimes = (factor: number) => ({
      periodSeconds: factor,
      timeoutSeconds: factor + 1,
      failureThreshold: factor + 2,
    });
    const probes = {
      startup: createProbeTimes(10),
      readiness: createProbeTimes(20),
      liveness: createProbeTimes(30),
    };
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const manifests = await renderChart("minimal", buildSetArgs({ [`${block}.probes`]: probes }));
      const livenessRequest = { path: "/livez", port: "internal" };
      expect(getContainer(manifests, name, name)).toMatchObject({
        startupProbe: { ...createProbeTimes(10), httpGet: livenessRequest },
        readinessProbe: { ...createProbeTimes(20), httpGet: { path: "/readyz", port: "internal" } },
        livenessProbe: {
          ...createProbeTimes(30),
          httpGet: livenessRequest,
          terminationGracePeriodSeconds: 5,
        },
      });
    }
  });
});

helmSuite.describe("a custom image", () => {
  test("overrides the common registry, path, tag and pull policy, wherever it runs", async () => {
    const ownImage = { registry: "other.example.com", repository: "that-one", tag: "9.9.9" };
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const manifests = await renderChart("minimal", [
        ...buildSetArgs({ "image.registry": "registry.example.com", "image.pullPolicy": "Always" }),
        ...buildSetArgs({ [`${block}.image`]: { ...ownImage, pullPolicy: "Never" } }),
      ]);
      const containers = listContainers(manifests);
      const ownImageContainers = containers.filter(
        ({ image }) => image === "other.example.com/that-one:9.9.9",
      );
      expect(ownImageContainers.map((container) => container.name)).toEqual(
        expect.arrayContaining([name, name]),
      );
      const otherContainers = containers.filter(
        (container) => !ownImageContainers.includes(container),
      );
      expect(otherContainers.length).toBeGreaterThanOrEqual(6);
      for (const { image } of otherContainers)
        expect(image).toMatch(/^registry\.example\.com\/payment-links\//);
      const getPullPolicies = (containers: readonly unknown[]) =>
        new Set(
          (containers as { imagePullPolicy: string }[]).map(
            (candidate) => candidate.imagePullPolicy,
          ),
        );
      expect([getPullPolicies(ownImageContainers), getPullPolicies(otherContainers)]).toEqual([
        new Set(["Never"]),
        new Set(["Always"]),
      ]);
    }
  });

  test("of quickstart's servers uses their own pull policy, if there is one", async () => {
    const renderPullPolicies = async (overrides: Record<string, unknown>) =>
      new Set(
        listContainers(
          await renderChart(
            "quickstart",
            buildSetArgs({ "image.pullPolicy": "Never", ...overrides }),
          ),
        )
          .filter(({ image }) => !image.includes("payment-links/"))
          .map((container) => container["imagePullPolicy"]),
      );
    expect(await renderPullPolicies({ "quickstart.pullPolicy": "IfNotPresent" })).toEqual(
      new Set(["IfNotPresent"]),
    );
    expect(await renderPullPolicies({})).toEqual(new Set(["Never"]));
  });

  test("overrides the common path and tag, with the same registry, in Deployment and Job", async () => {
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const manifests = await renderChart("minimal", [
        ...buildSetArgs({ "image.registry": "registry.example.com", "image.tag": "1.2.3" }),
        ...buildSetArgs({ [`${block}.image`]: { repository: "mirror/that-one", tag: "9.9.9" } }),
      ]);
      const images = listContainers(manifests)
        .filter((container) => container.name === name)
        .map(({ image }) => image);
      expect(images).toEqual(images.map(() => "registry.example.com/mirror/that-one:9.9.9"));
      expect(images).toHaveLength(2);
      const otherImages = listContainers(manifests).filter(({ image }) => image.endsWith(":1.2.3"));
      expect(otherImages.length).toBeGreaterThanOrEqual(6);
    }
  });

  test("is pulled with the configured credentials by every pod", async () => {
    const manifests = await renderChart(
      "minimal",
      buildSetArgs({ "image.pullSecrets": ["one", "two"] }),
    );
    for (const name of Object.values(namesByBlock)) {
      expect(getPodTemplate(manifests, name).spec).toMatchObject({
        imagePullSecrets: [{ name: "one" }, { name: "two" }],
      });
    }
  });
});

helmSuite.describe("common labels and annotations", () => {
  const rendered = new Map<string, Manifest[]>();
  beforeAll(async () => {
    const commonArgs = buildSetArgs({ commonLabels: labels, commonAnnotations: annotations });
    for (const topology of topologies)
      rendered.set(topology, await renderChart(topology, commonArgs));
  });

  test.each(topologies)("are on everything that %s creates, and select nothing", (topology) => {
    // Extra objects belong to the operator and not to the chart.
    const chartManifests = (rendered.get(topology) ?? []).filter(
      ({ metadata }) => !metadata.name.endsWith("-extra"),
    );
    expect(chartManifests.length).toBeGreaterThan(15);
    for (const { kind, metadata, spec } of chartManifests) {
      expect({ kind, ...metadata }).toMatchObject({ kind, labels, annotations });
      const { selector, podSelector } = (spec ?? {}) as Record<string, unknown>;
      expect(JSON.stringify([selector, podSelector])).not.toContain("example.com/tier");
    }
  });

  test("are on pods only as labels, and a pod's own label wins", async () => {
    const manifests = await renderChart("minimal", [
      ...buildSetArgs({ commonLabels: labels, commonAnnotations: annotations }),
      ...buildSetArgs({ "authKeys.podLabels": { "example.com/tier": "inner" } }),
    ]);
    for (const name of [...Object.values(serviceBlocks), "migrations"]) {
      const { metadata } = getPodTemplate(manifests, name);
      const tier = name === "auth-keys" ? "inner" : "public";
      expect([name, metadata.labels]).toMatchObject([name, { "example.com/tier": tier }]);
      expect(metadata.annotations ?? {}).not.toHaveProperty(["example.com/team"]);
    }
  });
});
