import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { findService } from "@payment-links/deploy/ingress";
import { parse } from "yaml";
import {
  type Manifest,
  chartDirectory,
  listContainers,
  releaseFullName,
  getPodSpec,
  readDirectory,
  renderChart,
  renderText,
  serviceNames,
  buildSetArgs,
  topologies,
} from "./helm/render-chart.ts";
import { requireTools } from "./helm/require-tools.ts";
import { findTool } from "./rig/find-tool.ts";
import { projectRoot } from "./rig/child.ts";

const run = promisify(execFile);
const helmSuite = requireTools("helm");

/** Containers that run a program of the chart. They have their own environment variables. */
const containersWithOwnVariables = new Set([
  "smoke",
  "first-payment",
  "wait-for-secrets",
  "wait-for-servers",
]);

const filterByKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

const findDuplicates = (names: readonly string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index);

helmSuite.describe("every topology", () => {
  const rendered = new Map<string, Manifest[]>();
  beforeAll(async () => {
    for (const topology of topologies) rendered.set(topology, await renderChart(topology));
  });

  describe.each(topologies)("%s", (topology) => {
    const manifests = () => rendered.get(topology) ?? [];

    test("contains the four services, each with a Deployment, a Service and a ServiceAccount", () => {
      for (const kind of ["Deployment", "Service", "ServiceAccount"]) {
        const names = filterByKind(manifests(), kind).map(({ metadata }) => metadata.name);
        expect(names).toEqual(
          expect.arrayContaining(serviceNames.map((service) => `${releaseFullName}-${service}`)),
        );
      }
    });

    test("has no duplicate names in lists that Kubernetes merges by name", () => {
      const duplicateNames = listContainers(manifests()).flatMap(({ env, ports, volumeMounts }) => [
        ...findDuplicates(env.map(({ name }) => name)),
        ...findDuplicates(ports.map(({ name }) => name)),
        ...findDuplicates(volumeMounts.map(({ mountPath }) => mountPath)),
      ]);
      const ids = manifests().map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect([...duplicateNames, ...findDuplicates(ids)]).toEqual([]);
    });

    test("meets the restricted level in every pod, with a read-only root and no token", () => {
      for (const manifest of manifests()) {
        const pod = getPodSpec(manifest);
        if (pod === undefined) continue;
        expect(pod.automountServiceAccountToken).toBe(false);
        expect(pod.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: "RuntimeDefault" },
        });
        for (const { securityContext } of [...pod.initContainers, ...pod.containers]) {
          expect(securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          });
        }
      }
      for (const account of filterByKind(manifests(), "ServiceAccount")) {
        expect(account["automountServiceAccountToken"]).toBe(false);
      }
    });

    test("runs fixed image versions, and our images with node as the command", () => {
      for (const { image, command } of listContainers(manifests())) {
        expect(image).toMatch(/(?::(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/);
        if (image.includes("payment-links/")) expect(command[0] ?? "node").toBe("node");
      }
    });

    test("sets only variables that the docs explain", () => {
      const configurationPage = readFileSync(
        join(projectRoot, "packages/docs/content/configuration.md"),
        "utf8",
      );
      const names = listContainers(manifests())
        .filter(
          ({ image, name }) =>
            image.includes("payment-links/") && !containersWithOwnVariables.has(name),
        )
        .flatMap(({ env }) => env.map(({ name }) => name))
        .filter((name) => !/^(?:NODE_|OTEL_TRACES_|TZ$)/.test(name));
      const undocumentedNames = names.filter((name) => !configurationPage.includes(`\`${name}\``));
      expect([...new Set(undocumentedNames)]).toEqual([]);
    });
  });
});

/** Removes the values that are different in each render of the quickstart. */
const hideGeneratedValues = (manifest: Manifest): Manifest =>
  manifest.kind === "Secret" && manifest.metadata.name === `${releaseFullName}-quickstart`
    ? { ...manifest, data: Object.keys(manifest["data"] ?? {}) }
    : manifest;

helmSuite.describe("the chart itself", () => {
  test.each(topologies)(
    "passes helm lint without findings, with the values of %s",
    async (topology) => {
      const values = join(chartDirectory, "ci", `${topology}.yaml`);
      const args = ["lint", "--strict", "--quiet", chartDirectory, "--values", values];
      const { stdout, stderr } = await run(findTool("helm") ?? "", args, { timeout: 60_000 });
      expect(stdout + stderr).toBe("");
    },
  );

  for (const topology of topologies) {
    requireTools("helm", "helm3").test(
      `is rendered identically by Helm 3, with ${topology}`,
      async () => {
        const manifestsByHelm3 = await renderChart(topology, [], findTool("helm3"));
        expect(manifestsByHelm3.map(hideGeneratedValues)).toEqual(
          (await renderChart(topology)).map(hideGeneratedValues),
        );
      },
    );
  }

  test("has the current version and the product's icon", () => {
    const chartMetadata = parse(readFileSync(join(chartDirectory, "Chart.yaml"), "utf8")) as Record<
      string,
      string
    >;
    const root = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
      version: string;
    };
    expect(chartMetadata["appVersion"]).toBe(root.version);
    const icon = readFileSync(join(projectRoot, "packages/design/icon.svg"), "utf8");
    const [iconPrefix, data = ""] = chartMetadata["icon"]?.split(",") ?? [];
    expect(iconPrefix).toBe("data:image/svg+xml;base64");
    expect(Buffer.from(data, "base64").toString("utf8")).toBe(icon.trim());
  });
});

helmSuite.describe("users of a Kafka with access control", () => {
  type Container = ReturnType<typeof listContainers>[number];
  const listSecretKeys = (containers: readonly Container[], variable: string) =>
    containers
      .flatMap(({ env }) => env)
      .filter(({ name }) => name === variable)
      .map(({ valueFrom }) => valueFrom?.secretKeyRef?.key);

  test("are by default one per service, and the Job's admin user, which grants each its access (rule OPS-12)", async () => {
    const setArgs = ["--set", "kafka.sasl.mechanism=plain"];
    const containers = listContainers(await renderChart("minimal", setArgs));
    for (const service of serviceNames) {
      const serviceContainers = containers.filter(({ name }) => name === service);
      const prepareContainers = serviceContainers.filter(({ command }) =>
        command.includes("src/prepare.ts"),
      );
      const serviceContainersAtRuntime = serviceContainers.filter(
        (container) => !prepareContainers.includes(container),
      );
      const username = `${service}-kafka-username`;
      expect(listSecretKeys(serviceContainersAtRuntime, "KAFKA_SASL_USERNAME")).toEqual([username]);
      expect(listSecretKeys(serviceContainersAtRuntime, "KAFKA_SASL_PASSWORD")).toEqual([
        `${service}-kafka-password`,
      ]);
      expect(listSecretKeys(prepareContainers, "KAFKA_SASL_USERNAME")).toEqual(["kafka-username"]);
      expect(listSecretKeys(prepareContainers, "KAFKA_GRANT_USERNAME")).toEqual([username]);
    }
  });

  test("are replaced by one common user without grants if the values say so", async () => {
    const setArgs = ["kafka.sasl.mechanism=plain", "kafka.sasl.perService=false"].flatMap(
      (value) => ["--set", value],
    );
    const containers = listContainers(await renderChart("minimal", setArgs));
    expect(new Set(listSecretKeys(containers, "KAFKA_SASL_USERNAME"))).toEqual(
      new Set(["kafka-username"]),
    );
    expect(listSecretKeys(containers, "KAFKA_GRANT_USERNAME")).toEqual([]);
  });
});

helmSuite.describe("the operators' token", () => {
  test("is known only to its own service (rule OPS-12)", async () => {
    for (const topology of topologies) {
      const containers = listContainers(await renderChart(topology));
      for (const service of serviceNames) {
        const serviceVariables = containers
          .filter(({ name }) => name === service)
          .flatMap(({ env }) => env);
        const operatorTokenKeys = serviceVariables
          .map(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? "")
          .filter((key) => key.includes("operator-token"));
        const key = service === "auth-keys" ? "operator-token" : `${service}-operator-token`;
        expect([topology, service, operatorTokenKeys]).toEqual([topology, service, [key]]);
      }
    }
  });
});

helmSuite.describe("a change of the default wallet", () => {
  test("is delayed in the production example (rule CALLER-20)", async () => {
    const walletDelays = listContainers(await renderChart("production"))
      .flatMap(({ env }) => env)
      .filter(({ name }) => name === "WALLET_CHANGE_DELAY")
      .map(({ value }) => Number(value));
    expect(walletDelays.length).toBe(1);
    expect(walletDelays[0]).toBeGreaterThan(0);
  });
});

helmSuite.describe("secrets", () => {
  test("do not appear in the render with existingSecret: no Secret and no value", async () => {
    for (const topology of topologies.filter((name) => !["trial", "quickstart"].includes(name))) {
      const manifests = await renderChart(topology);
      expect(filterByKind(manifests, "Secret")).toEqual([]);
      const plaintextVariables = listContainers(manifests)
        .flatMap(({ env }) => env)
        .filter(({ name }) => /SECRET|TOKEN|PASSWORD|DATABASE_URL|REDIS_URL|RPC_URLS/.test(name))
        .filter(({ value, valueFrom }) => value !== undefined || valueFrom === undefined);
      expect(plaintextVariables).toEqual([]);
    }
  });

  test("appear inline only in Secrets, those of the migrations in the Secret of their Job", async () => {
    const canary = "canary-7d1f2c9b0a";
    const names = [
      "internalToken",
      "operatorToken",
      "migrationDatabaseUrl",
      "linksApiDatabaseUrl",
      "redisUrl",
    ];
    const setArgs = names.flatMap((name) => ["--set", `secrets.${name}.value=${canary}-${name}`]);
    const manifests = await renderChart("trial", setArgs);
    const listManifestsContaining = (name: string) => {
      const plaintextValue = `${canary}-${name}`;
      const base64Value = Buffer.from(plaintextValue).toString("base64");
      return manifests
        .filter((manifest) => {
          const text = JSON.stringify(manifest);
          return text.includes(plaintextValue) || text.includes(base64Value);
        })
        .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
        .sort();
    };
    expect(listManifestsContaining("internalToken")).toEqual([`Secret/${releaseFullName}-secrets`]);
    expect(listManifestsContaining("operatorToken")).toEqual([`Secret/${releaseFullName}-secrets`]);
    expect(listManifestsContaining("migrationDatabaseUrl")).toEqual([
      `Secret/${releaseFullName}-migrations`,
    ]);
    expect(listManifestsContaining("linksApiDatabaseUrl")).toEqual([
      `Secret/${releaseFullName}-migrations`,
      `Secret/${releaseFullName}-secrets`,
    ]);
    expect(listManifestsContaining("redisUrl")).toEqual([`Secret/${releaseFullName}-secrets`]);
  });

  test("give each service only its own database, and the migrations' role only to the Job", async () => {
    const manifests = await renderChart("production");
    const listDatabaseUrlKeys = (manifest: Manifest) =>
      listContainers([manifest])
        .flatMap(({ env }) => env)
        .map(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? "")
        .filter((key) => key.endsWith("database-url"));
    for (const deployment of filterByKind(manifests, "Deployment")) {
      const service = deployment.metadata.name.replace(`${releaseFullName}-`, "");
      expect(listDatabaseUrlKeys(deployment)).toEqual([`${service}-database-url`]);
    }
  });
});

helmSuite.describe("images", () => {
  test("use the configured digests rather than any tag, in pods, Job and test", async () => {
    const manifests = await renderChart("production", ["--set", "image.tag=moved"]);
    const givenDigests = { "links-api": "1", "auth-keys": "2", "settlement-listener": "3" };
    const expected = Object.entries({ ...givenDigests, "webhook-dispatcher": "4" }).map(
      ([service, digit]) =>
        `registry.example.com:5000/payment-links/${service}@sha256:${digit.repeat(64)}`,
    );
    const images = new Set(listContainers(manifests).map(({ image }) => image));
    expect([...images].toSorted()).toEqual(expected.toSorted());
  });
});

helmSuite.describe("the single origin", () => {
  const paths = [
    "/v1/payment-link",
    "/v1/openapi.json",
    "/@demo/pay/plink_1",
    "/tx/tx_1",
    "/checkout/page.css",
    "/checkout/images/user_1/0123",
    "/checkout/imagesx",
    "/docs",
    "/docs/webhooks",
    "/docs/assets/docs.css",
    "/checkout/pictures/0123",
    "/console",
    "/console/api/deposits",
    "/console/api/deposits.csv",
    "/console/api/deposits/dep_1/assign",
    "/console/api/depositsx",
    "/console/api/overview",
    "/console/api/payment-links",
    "/console/api/payment-links.csv",
    "/console/api/payments.csv",
    "/console/api/payment-links/plink_1",
    "/console/api/payment-linksx",
    "/console/api/webhook-deliveries",
    "/console/api/webhook-endpoints/whe_1",
    "/console/api/session",
    "/console/apix",
    "/settlement-notices/demo",
    "/settlement-noticesx",
  ];

  /**
   * Returns the service that a controller selects by the rules of Prefix and PathPrefix: it
   * compares whole path segments, and the longest match wins.
   */
  const findServiceByPrefix = (rules: readonly { path: string; service: string }[], path: string) =>
    rules
      .filter((rule) => rule.path === "/" || path === rule.path || path.startsWith(`${rule.path}/`))
      .sort((a, b) => b.path.length - a.path.length)[0]
      ?.service.replace(`${releaseFullName}-`, "");

  type IngressSpec = {
    rules: {
      host: string;
      http: { paths: { path: string; backend: { service: { name: string } } }[] };
    }[];
  };
  type RouteSpec = {
    hostnames: string[];
    rules: {
      matches: { path: { value: string } }[];
      backendRefs: { name: string }[];
      timeouts?: { request: string };
    }[];
  };

  test("is routed by an Ingress like the all-in-one", async () => {
    const [ingress] = filterByKind(await renderChart("production"), "Ingress");
    if (ingress === undefined) throw new Error("the chart rendered no Ingress");
    const { rules: ingressRules } = ingress["spec"] as IngressSpec;
    expect(ingressRules.map(({ host }) => host)).toEqual(["api.example.com", "pay.example.com"]);
    for (const { http } of ingressRules) {
      const rules = http.paths.map(({ path, backend }) => ({
        path,
        service: backend.service.name,
      }));
      for (const path of paths)
        expect([path, findServiceByPrefix(rules, path)]).toEqual([path, findService(path)]);
    }
  });

  test("is routed by an operator's proxy in the same way, according to the README's table", () => {
    const readme = readFileSync(join(chartDirectory, "README.md"), "utf8");
    const tableRows = [...readme.matchAll(/^\| (`\/.*|everything else) \| `…-(.*)` \|$/gm)];
    const rules = tableRows.flatMap(([, pathList = "", service = ""]) =>
      pathList.split(", ").map((path) => ({
        path: path === "everything else" ? "/" : path.replaceAll("`", ""),
        service,
      })),
    );
    expect(rules).toContainEqual({ path: "/", service: "links-api" });
    for (const path of paths)
      expect([path, findServiceByPrefix(rules, path)]).toEqual([path, findService(path)]);
  });

  test("is routed by an HTTPRoute like the all-in-one", async () => {
    const [route] = filterByKind(await renderChart("http-route"), "HTTPRoute");
    if (route === undefined) throw new Error("the chart rendered no HTTPRoute");
    const { hostnames, rules: ingressRules } = route["spec"] as RouteSpec;
    expect(hostnames).toEqual(["pay.example.com"]);
    const rules = ingressRules.map(({ matches, backendRefs }) => ({
      path: matches[0]?.path.value ?? "",
      service: backendRefs[0]?.name ?? "",
    }));
    for (const path of paths)
      expect([path, findServiceByPrefix(rules, path)]).toEqual([path, findService(path)]);
  });

  test("has the configured response timeout in each rule of an HTTPRoute", async () => {
    const listRequestTimeouts = async (...values: string[]) => {
      const [route] = filterByKind(await renderChart("http-route", values), "HTTPRoute");
      if (route === undefined) throw new Error("the chart rendered no HTTPRoute");
      const { rules } = route["spec"] as RouteSpec;
      return [...new Set(rules.map(({ timeouts }) => timeouts?.request))];
    };
    expect(await listRequestTimeouts()).toEqual([undefined]);
    expect(
      await listRequestTimeouts(...buildSetArgs({ "httpRoute.requestTimeout": "0s" })),
    ).toEqual(["0s"]);
  });
});

helmSuite.describe("scaling", () => {
  test("leaves replicas out of a scaled Deployment, so that an upgrade keeps the scaler's count", async () => {
    const manifests = await renderChart("production");
    const names = (kind: string) =>
      filterByKind(manifests, kind).map(({ metadata }) => metadata.name);
    expect(names("HorizontalPodAutoscaler")).toEqual([`${releaseFullName}-links-api`]);
    expect(names("ScaledObject")).toEqual([`${releaseFullName}-webhook-dispatcher`]);
    const scaledNames = new Set([...names("HorizontalPodAutoscaler"), ...names("ScaledObject")]);
    for (const { metadata, spec } of filterByKind(manifests, "Deployment") as (Manifest & {
      spec: { replicas?: number };
    })[]) {
      expect([metadata.name, spec.replicas === undefined]).toEqual([
        metadata.name,
        scaledNames.has(metadata.name),
      ]);
    }
  });

  test("sets no disruption budget for a single pod, which would block draining its node forever", async () => {
    expect(filterByKind(await renderChart("trial"), "PodDisruptionBudget")).toEqual([]);
    expect(filterByKind(await renderChart("minimal"), "PodDisruptionBudget")).toHaveLength(4);
  });
});

helmSuite.describe("migrations", () => {
  test("without hooks use a hook only for the test, and a new Job for another image", async () => {
    const getJobName = async (tag: string) => {
      const manifests = await renderChart("gitops", ["--set", `image.tag=${tag}`]);
      const hooks = manifests.filter(({ metadata }) => "helm.sh/hook" in metadata.annotations);
      expect(hooks.map(({ kind }) => kind)).toEqual(["Pod"]);
      return filterByKind(manifests, "Job").map(({ metadata }) => metadata.name);
    };
    const [firstName, sameTagName, otherTagName] = [
      await getJobName("1.0.0"),
      await getJobName("1.0.0"),
      await getJobName("1.0.1"),
    ];
    expect(sameTagName).toEqual(firstName);
    expect(otherTagName).not.toEqual(firstName);
  });

  test("prepare each service once in the Job, whose dependencies are earlier hooks", async () => {
    const manifests = await renderChart("trial");
    const [job] = filterByKind(manifests, "Job");
    const names = listContainers(job === undefined ? [] : [job]).map(({ name }) => name);
    expect(names).toEqual(["wait-for-secrets", "wait-for-servers", ...serviceNames]);
    const migrationManifests = manifests.filter(
      ({ metadata }) => metadata.name === `${releaseFullName}-migrations`,
    );
    const hookWeights = migrationManifests.map(({ kind, metadata }) => [
      kind,
      metadata.annotations["helm.sh/hook-weight"],
    ]);
    expect(new Map(hookWeights as [string, string][])).toEqual(
      new Map([
        ["ServiceAccount", "-10"],
        ["Secret", "-10"],
        ["NetworkPolicy", "-10"],
        ["Job", "0"],
      ]),
    );
  });
});

helmSuite.describe("monitoring", () => {
  type Rule = {
    alert?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  type Rules = { groups: { rules: Rule[] }[] };

  test("renders every alert file as a PrometheusRule, with runbook URLs", async () => {
    const files = readDirectory(join(chartDirectory, "alerts"), ".yaml");
    const rules = filterByKind(await renderChart("production"), "PrometheusRule");
    expect(rules).toHaveLength(files.length);
    for (const { spec } of rules as unknown as { spec: Rules }[]) {
      for (const { alert, annotations } of spec.groups.flatMap((group) => group.rules)) {
        if (alert === undefined) continue;
        expect(annotations?.["runbook_url"]).toBe(
          `https://runbooks.example.com/payment-links/${alert}.md`,
        );
      }
    }
    for (const { text } of files) expect((parse(text) as Rules).groups.length).toBeGreaterThan(0);
  });

  const renderRules = async (values: Record<string, unknown>) =>
    (
      filterByKind(
        await renderChart("production", buildSetArgs(values)),
        "PrometheusRule",
      ) as unknown as {
        spec: Rules;
      }[]
    )
      .flatMap(({ spec }) => spec.groups)
      .flatMap(({ rules }) => rules);

  test("leaves out only the alerts that are named, including all of the same name", async () => {
    const names = (rules: readonly Rule[]) => rules.map(({ alert }) => alert);
    const excludedAlerts = ["PaymentLinksServiceGone", "PaymentLinksOutboxBudgetBurn"];
    const allAlerts = names(await renderRules({}));
    const remainingAlerts = names(
      await renderRules({ "metrics.prometheusRule.excludeRules": excludedAlerts }),
    );
    expect(remainingAlerts).toEqual(
      allAlerts.filter((alert) => !excludedAlerts.includes(alert ?? "")),
    );
    expect(remainingAlerts.length).toBeLessThan(allAlerts.length - 1);
  });

  test("adds the configured labels to every alert beside its own, and to no other rule", async () => {
    const givenLabels = { team: "payments", severity: "none" };
    const defaultRules = await renderRules({});
    const rules = await renderRules({ "metrics.prometheusRule.alertLabels": givenLabels });
    expect(rules.map(({ labels }) => labels)).toEqual(
      defaultRules.map(({ alert, labels }) =>
        alert === undefined ? labels : { ...givenLabels, ...labels },
      ),
    );
    expect(new Set(defaultRules.map(({ labels }) => labels?.["severity"]))).toContain("page");
  });

  test("adds the configured fields to the ServiceMonitor, and none by default", async () => {
    const endpoint = {
      scrapeTimeout: "10s",
      relabelings: [{ targetLabel: "cluster", replacement: "one" }],
      metricRelabelings: [{ action: "drop", sourceLabels: ["__name__"], regex: "nodejs_.*" }],
    };
    const annotations = { "example.com/team": "payments" };
    const renderServiceMonitor = async (serviceMonitor: object) => {
      const values = buildSetArgs({
        "metrics.serviceMonitor": { enabled: true, ...serviceMonitor },
        "networkPolicy.metricsFrom": [{ podSelector: {} }],
      });
      const [monitor] = filterByKind(await renderChart("minimal", values), "ServiceMonitor");
      return monitor as Manifest & { spec: { endpoints: Record<string, unknown>[] } };
    };
    const monitor = await renderServiceMonitor({ ...endpoint, annotations });
    expect(monitor.metadata.annotations).toEqual(annotations);
    expect(monitor.spec.endpoints).toMatchObject([endpoint]);
    const { spec } = await renderServiceMonitor({});
    for (const field of Object.keys(endpoint)) expect(spec.endpoints[0]).not.toHaveProperty(field);
  });

  test("renders every dashboard as a ConfigMap without changing a digit", async () => {
    const files = readDirectory(join(chartDirectory, "dashboards"), ".json");
    const dashboardConfigMaps = filterByKind(await renderChart("production"), "ConfigMap")
      .filter(({ metadata }) => metadata.labels["grafana_dashboard"] === "1")
      .map((configMap) => configMap["data"]);
    expect(dashboardConfigMaps).toEqual(files.map(({ name, text }) => ({ [name]: text })));
  });
});

const kubeconform = findTool("kubeconform");
const kubeScore = findTool("kube-score");
const testEachTopology =
  (tool: string) =>
  (title: string, body: (topology: string) => Promise<void>): void => {
    const { test: toolTest } = requireTools("helm", tool);
    for (const topology of topologies) {
      toolTest(title.replace("%s", topology), () => body(topology));
    }
  };

describe("kubeconform -strict", () => {
  testEachTopology("kubeconform")("passes %s", async (topology) => {
    const schemas = join(projectRoot, "test/helm/schemas");
    const location = `${schemas}/{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json`;
    const args = ["-strict", "-summary", "-schema-location", location, "-"];
    const toolOutput = await runWithInput(kubeconform ?? "", args, await renderText(topology));
    expect(toolOutput).toContain("Invalid: 0, Errors: 0, Skipped: 0");
  });
});

describe("kube-score", () => {
  type IgnoredFinding = { check: string; summary: string; topologies?: string[]; reason: string };
  const ignoredFindings = parse(
    readFileSync(join(projectRoot, "test/helm/kube-score-ignore.yaml"), "utf8"),
  ) as IgnoredFinding[];

  /** Returns every kube-score finding that is worse than "almost ok". */
  const listFindings = async (topology: string) => {
    const args = ["score", "--output-format", "json", "-"];
    const scoredObjects = JSON.parse(
      await runWithInput(kubeScore ?? "", args, await renderText(topology)),
    ) as {
      object_name: string;
      checks: {
        check: { id: string };
        grade: number;
        skipped: boolean;
        comments: { summary: string }[] | null;
      }[];
    }[];
    return scoredObjects.flatMap(({ object_name: objectName, checks }) =>
      checks
        .filter(({ grade, skipped }) => !skipped && grade < almostOkGrade)
        .flatMap(({ check, comments }) =>
          (comments ?? []).map(({ summary }) => ({ object: objectName, check: check.id, summary })),
        ),
    );
  };

  testEachTopology("kube-score")("finds exactly the ignored problems in %s", async (topology) => {
    const ignoredHere = ignoredFindings.filter(
      (entry) => entry.topologies?.includes(topology) ?? true,
    );
    const foundFindings = await listFindings(topology);
    const isIgnored = ({ check, summary }: { check: string; summary: string }) =>
      ignoredHere.some((entry) => entry.check === check && entry.summary === summary);
    expect(foundFindings.filter((finding) => !isIgnored(finding))).toEqual([]);
    const staleIgnores = ignoredHere.filter(
      ({ check, topologies: ignoredTopologies }) =>
        ignoredTopologies !== undefined &&
        !foundFindings.some((finding) => finding.check === check),
    );
    expect(staleIgnores).toEqual([]);
  });
});

/** kube-score's grades: 1 critical, 5 warning, 7 almost ok, 10 ok. */
const almostOkGrade = 7;

const runWithInput = async (
  tool: string,
  args: readonly string[],
  input: string,
): Promise<string> => {
  const childPromise = run(tool, args, { timeout: 60_000, maxBuffer: 50_000_000 });
  childPromise.child.stdin?.end(input);
  // Both tools exit with an error if there are findings. The findings are on stdout.
  return childPromise.then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => error.stdout ?? error.message,
  );
};
