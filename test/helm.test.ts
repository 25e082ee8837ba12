import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { serviceFor } from "@payment-links/deploy/ingress";
import { parse } from "yaml";
import {
  type Manifest,
  chart,
  containersOf,
  fullName,
  podOf,
  readFolder,
  renderChart,
  renderText,
  serviceNames,
  set,
  topologies,
} from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";
import { findTool } from "./rig/find-tool.ts";
import { projectRoot } from "./rig/child.ts";

const run = promisify(execFile);
const withHelm = needing("helm");

/** Containers with a program of the chart's own, whose variables are its own. */
const ownPrograms = new Set(["smoke", "first-payment", "wait-for-secrets", "wait-for-servers"]);

const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);

const duplicates = (names: readonly string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index);

withHelm.describe("every topology", () => {
  const rendered = new Map<string, Manifest[]>();
  beforeAll(async () => {
    for (const topology of topologies) rendered.set(topology, await renderChart(topology));
  });

  describe.each(topologies)("%s", (topology) => {
    const manifests = () => rendered.get(topology) ?? [];

    test("is the four services, each by Deployment, Service and ServiceAccount", () => {
      for (const kind of ["Deployment", "Service", "ServiceAccount"]) {
        const names = ofKind(manifests(), kind).map(({ metadata }) => metadata.name);
        expect(names).toEqual(
          expect.arrayContaining(serviceNames.map((service) => `${fullName}-${service}`)),
        );
      }
    });

    test("has no name twice where Kubernetes merges lists by name", () => {
      const twice = containersOf(manifests()).flatMap(({ env, ports, volumeMounts }) => [
        ...duplicates(env.map(({ name }) => name)),
        ...duplicates(ports.map(({ name }) => name)),
        ...duplicates(volumeMounts.map(({ mountPath }) => mountPath)),
      ]);
      const ids = manifests().map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect([...twice, ...duplicates(ids)]).toEqual([]);
    });

    test("gives every pod what the restricted level asks, a closed root and no token", () => {
      for (const manifest of manifests()) {
        const pod = podOf(manifest);
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
      for (const account of ofKind(manifests(), "ServiceAccount")) {
        expect(account["automountServiceAccountToken"]).toBe(false);
      }
    });

    test("runs fixed images, and ours by node itself", () => {
      for (const { image, command } of containersOf(manifests())) {
        expect(image).toMatch(/(?::(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/);
        if (image.includes("payment-links/")) expect(command[0] ?? "node").toBe("node");
      }
    });

    test("sets no variable that deploy/README.md does not explain", () => {
      const known = readFileSync(join(projectRoot, "deploy/README.md"), "utf8");
      const names = containersOf(manifests())
        .filter(({ image, name }) => image.includes("payment-links/") && !ownPrograms.has(name))
        .flatMap(({ env }) => env.map(({ name }) => name))
        .filter((name) => !/^(?:NODE_|OTEL_TRACES_|TZ$)/.test(name));
      const unknown = names.filter((name) => !known.includes(`\`${name}\``));
      expect([...new Set(unknown)]).toEqual([]);
    });
  });
});

/** The same without the values that each render of a quickstart draws anew. */
const hideDrawn = (manifest: Manifest): Manifest =>
  manifest.kind === "Secret" && manifest.metadata.name === `${fullName}-quickstart`
    ? { ...manifest, data: Object.keys(manifest["data"] ?? {}) }
    : manifest;

withHelm.describe("the chart itself", () => {
  test.each(topologies)(
    "has nothing that helm lint would change, with the values of %s",
    async (topology) => {
      const values = join(chart, "ci", `${topology}.yaml`);
      const args = ["lint", "--strict", "--quiet", chart, "--values", values];
      const { stdout, stderr } = await run(findTool("helm") ?? "", args, { timeout: 60_000 });
      expect(stdout + stderr).toBe("");
    },
  );

  for (const topology of topologies) {
    needing("helm", "helm3").test(`is the same by Helm 3, with ${topology}`, async () => {
      const byHelm3 = await renderChart(topology, [], findTool("helm3"));
      expect(byHelm3.map(hideDrawn)).toEqual((await renderChart(topology)).map(hideDrawn));
    });
  }

  test("is of this version, and has the checkout's icon", () => {
    const about = parse(readFileSync(join(chart, "Chart.yaml"), "utf8")) as Record<string, string>;
    const root = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
      version: string;
    };
    expect(about["appVersion"]).toBe(root.version);
    const icon = readFileSync(
      join(projectRoot, "services/links-api/src/pages/assets/icon.svg"),
      "utf8",
    );
    const [form, data = ""] = about["icon"]?.split(",") ?? [];
    expect(form).toBe("data:image/svg+xml;base64");
    expect(Buffer.from(data, "base64").toString("utf8")).toBe(icon.trim());
  });
});

withHelm.describe("users of a guarded Kafka", () => {
  type Container = ReturnType<typeof containersOf>[number];
  const keysOf = (containers: readonly Container[], variable: string) =>
    containers
      .flatMap(({ env }) => env)
      .filter(({ name }) => name === variable)
      .map(({ valueFrom }) => valueFrom?.secretKeyRef?.key);

  test("are by default one for each service, and the Job's admin user, which grants each what it needs (rule OPS-12)", async () => {
    const sets = ["--set", "kafka.sasl.mechanism=plain"];
    const containers = containersOf(await renderChart("minimal", sets));
    for (const service of serviceNames) {
      const own = containers.filter(({ name }) => name === service);
      const preparing = own.filter(({ command }) => command.includes("src/prepare.ts"));
      const serving = own.filter((container) => !preparing.includes(container));
      const username = `${service}-kafka-username`;
      expect(keysOf(serving, "KAFKA_SASL_USERNAME")).toEqual([username]);
      expect(keysOf(serving, "KAFKA_SASL_PASSWORD")).toEqual([`${service}-kafka-password`]);
      expect(keysOf(preparing, "KAFKA_SASL_USERNAME")).toEqual(["kafka-username"]);
      expect(keysOf(preparing, "KAFKA_GRANT_USERNAME")).toEqual([username]);
    }
  });

  test("is one for all, with nothing granted, where the values ask for it", async () => {
    const sets = ["kafka.sasl.mechanism=plain", "kafka.sasl.perService=false"].flatMap((value) => [
      "--set",
      value,
    ]);
    const containers = containersOf(await renderChart("minimal", sets));
    expect(new Set(keysOf(containers, "KAFKA_SASL_USERNAME"))).toEqual(new Set(["kafka-username"]));
    expect(keysOf(containers, "KAFKA_GRANT_USERNAME")).toEqual([]);
  });
});

withHelm.describe("the token of operators", () => {
  test("of each service is known to no other service (rule OPS-12)", async () => {
    for (const topology of topologies) {
      const containers = containersOf(await renderChart(topology));
      for (const service of serviceNames) {
        const own = containers.filter(({ name }) => name === service).flatMap(({ env }) => env);
        const keys = own
          .map(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? "")
          .filter((key) => key.includes("operator-token"));
        const key = service === "auth-keys" ? "operator-token" : `${service}-operator-token`;
        expect([topology, service, keys]).toEqual([topology, service, [key]]);
      }
    }
  });
});

withHelm.describe("a change of the default wallet", () => {
  test("is delayed in the example for production (rule CALLER-20)", async () => {
    const delays = containersOf(await renderChart("production"))
      .flatMap(({ env }) => env)
      .filter(({ name }) => name === "WALLET_CHANGE_DELAY")
      .map(({ value }) => Number(value));
    expect(delays.length).toBe(1);
    expect(delays[0]).toBeGreaterThan(0);
  });
});

withHelm.describe("secrets", () => {
  test("with existingSecret nothing secret is in the render: no Secret, and no value", async () => {
    for (const topology of topologies.filter((name) => !["trial", "quickstart"].includes(name))) {
      const manifests = await renderChart(topology);
      expect(ofKind(manifests, "Secret")).toEqual([]);
      const clear = containersOf(manifests)
        .flatMap(({ env }) => env)
        .filter(({ name }) => /SECRET|TOKEN|PASSWORD|DATABASE_URL|REDIS_URL|RPC_URLS/.test(name))
        .filter(({ value, valueFrom }) => value !== undefined || valueFrom === undefined);
      expect(clear).toEqual([]);
    }
  });

  test("an inline value stands in Secrets alone, and the migrations' in that of their Job", async () => {
    const canary = "canary-7d1f2c9b0a";
    const names = [
      "internalToken",
      "operatorToken",
      "migrationDatabaseUrl",
      "linksApiDatabaseUrl",
      "redisUrl",
    ];
    const sets = names.flatMap((name) => ["--set", `secrets.${name}.value=${canary}-${name}`]);
    const manifests = await renderChart("trial", sets);
    const holders = (name: string) => {
      const clear = `${canary}-${name}`;
      const sealed = Buffer.from(clear).toString("base64");
      return manifests
        .filter((manifest) => {
          const text = JSON.stringify(manifest);
          return text.includes(clear) || text.includes(sealed);
        })
        .map(({ kind, metadata }) => `${kind}/${metadata.name}`)
        .sort();
    };
    expect(holders("internalToken")).toEqual([`Secret/${fullName}-secrets`]);
    expect(holders("operatorToken")).toEqual([`Secret/${fullName}-secrets`]);
    expect(holders("migrationDatabaseUrl")).toEqual([`Secret/${fullName}-migrations`]);
    expect(holders("linksApiDatabaseUrl")).toEqual([
      `Secret/${fullName}-migrations`,
      `Secret/${fullName}-secrets`,
    ]);
    expect(holders("redisUrl")).toEqual([`Secret/${fullName}-secrets`]);
  });

  test("each service reads its own database alone, and only the Job the migrations' role", async () => {
    const manifests = await renderChart("production");
    const keys = (manifest: Manifest) =>
      containersOf([manifest])
        .flatMap(({ env }) => env)
        .map(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? "")
        .filter((key) => key.endsWith("database-url"));
    for (const deployment of ofKind(manifests, "Deployment")) {
      const service = deployment.metadata.name.replace(`${fullName}-`, "");
      expect(keys(deployment)).toEqual([`${service}-database-url`]);
    }
  });
});

withHelm.describe("images", () => {
  test("are those whose digests the values give, above any tag, in pods, Job and test", async () => {
    const manifests = await renderChart("production", ["--set", "image.tag=moved"]);
    const given = { "links-api": "1", "auth-keys": "2", "settlement-listener": "3" };
    const expected = Object.entries({ ...given, "webhook-dispatcher": "4" }).map(
      ([service, digit]) =>
        `registry.example.com:5000/payment-links/${service}@sha256:${digit.repeat(64)}`,
    );
    const images = new Set(containersOf(manifests).map(({ image }) => image));
    expect([...images].toSorted()).toEqual(expected.toSorted());
  });
});

withHelm.describe("the one origin", () => {
  const paths = [
    "/v1/payment-link",
    "/v1/openapi.json",
    "/@demo/pay/plink_1",
    "/tx/tx_1",
    "/checkout/page.css",
    "/checkout/images/user_1/0123",
    "/checkout/imagesx",
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
   * What a controller does by the rules of Prefix and PathPrefix: whole segments, the longest match
   * wins.
   */
  const serviceByPrefix = (rules: readonly { path: string; service: string }[], path: string) =>
    rules
      .filter((rule) => rule.path === "/" || path === rule.path || path.startsWith(`${rule.path}/`))
      .sort((a, b) => b.path.length - a.path.length)[0]
      ?.service.replace(`${fullName}-`, "");

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

  test("an Ingress leads every path where the all-in-one does", async () => {
    const [ingress] = ofKind(await renderChart("production"), "Ingress");
    if (ingress === undefined) throw new Error("there is no Ingress");
    const { rules: found } = ingress["spec"] as IngressSpec;
    expect(found.map(({ host }) => host)).toEqual(["api.example.com", "pay.example.com"]);
    for (const { http } of found) {
      const rules = http.paths.map(({ path, backend }) => ({
        path,
        service: backend.service.name,
      }));
      for (const path of paths)
        expect([path, serviceByPrefix(rules, path)]).toEqual([path, serviceFor(path)]);
    }
  });

  test("a proxy of one's own leads every path there too, by the README's table", () => {
    const readme = readFileSync(join(chart, "README.md"), "utf8");
    const rows = [...readme.matchAll(/^\| (`\/.*|everything else) \| `…-(.*)` \|$/gm)];
    const rules = rows.flatMap(([, named = "", service = ""]) =>
      named.split(", ").map((path) => ({
        path: path === "everything else" ? "/" : path.replaceAll("`", ""),
        service,
      })),
    );
    expect(rules).toContainEqual({ path: "/", service: "links-api" });
    for (const path of paths)
      expect([path, serviceByPrefix(rules, path)]).toEqual([path, serviceFor(path)]);
  });

  test("an HTTPRoute leads every path where the all-in-one does", async () => {
    const [route] = ofKind(await renderChart("http-route"), "HTTPRoute");
    if (route === undefined) throw new Error("there is no HTTPRoute");
    const { hostnames, rules: found } = route["spec"] as RouteSpec;
    expect(hostnames).toEqual(["pay.example.com"]);
    const rules = found.map(({ matches, backendRefs }) => ({
      path: matches[0]?.path.value ?? "",
      service: backendRefs[0]?.name ?? "",
    }));
    for (const path of paths)
      expect([path, serviceByPrefix(rules, path)]).toEqual([path, serviceFor(path)]);
  });

  test("an HTTPRoute tells each rule how long an answer may take, where that is given", async () => {
    const timeoutsOf = async (...values: string[]) => {
      const [route] = ofKind(await renderChart("http-route", values), "HTTPRoute");
      if (route === undefined) throw new Error("there is no HTTPRoute");
      const { rules } = route["spec"] as RouteSpec;
      return [...new Set(rules.map(({ timeouts }) => timeouts?.request))];
    };
    expect(await timeoutsOf()).toEqual([undefined]);
    expect(await timeoutsOf(...set({ "httpRoute.requestTimeout": "0s" }))).toEqual(["0s"]);
  });
});

withHelm.describe("scaling", () => {
  test("a scaled Deployment names no replicas, which the scaler would lose at each upgrade", async () => {
    const manifests = await renderChart("production");
    const names = (kind: string) => ofKind(manifests, kind).map(({ metadata }) => metadata.name);
    expect(names("HorizontalPodAutoscaler")).toEqual([`${fullName}-links-api`]);
    expect(names("ScaledObject")).toEqual([`${fullName}-webhook-dispatcher`]);
    const scaled = new Set([...names("HorizontalPodAutoscaler"), ...names("ScaledObject")]);
    for (const { metadata, spec } of ofKind(manifests, "Deployment") as (Manifest & {
      spec: { replicas?: number };
    })[]) {
      expect([metadata.name, spec.replicas === undefined]).toEqual([
        metadata.name,
        scaled.has(metadata.name),
      ]);
    }
  });

  test("a single pod has no disruption budget, which would hold its node up for ever", async () => {
    expect(ofKind(await renderChart("trial"), "PodDisruptionBudget")).toEqual([]);
    expect(ofKind(await renderChart("minimal"), "PodDisruptionBudget")).toHaveLength(4);
  });
});

withHelm.describe("migrations", () => {
  test("without hooks nothing but the test is one, and another image is another Job", async () => {
    const jobName = async (tag: string) => {
      const manifests = await renderChart("gitops", ["--set", `image.tag=${tag}`]);
      const hooks = manifests.filter(({ metadata }) => "helm.sh/hook" in metadata.annotations);
      expect(hooks.map(({ kind }) => kind)).toEqual(["Pod"]);
      return ofKind(manifests, "Job").map(({ metadata }) => metadata.name);
    };
    const [first, again, other] = [
      await jobName("1.0.0"),
      await jobName("1.0.0"),
      await jobName("1.0.1"),
    ];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test("the Job prepares each service once, and all that it needs is a hook before it", async () => {
    const manifests = await renderChart("trial");
    const [job] = ofKind(manifests, "Job");
    const names = containersOf(job === undefined ? [] : [job]).map(({ name }) => name);
    expect(names).toEqual(["wait-for-secrets", "wait-for-servers", ...serviceNames]);
    const own = manifests.filter(({ metadata }) => metadata.name === `${fullName}-migrations`);
    const weights = own.map(({ kind, metadata }) => [
      kind,
      metadata.annotations["helm.sh/hook-weight"],
    ]);
    expect(new Map(weights as [string, string][])).toEqual(
      new Map([
        ["ServiceAccount", "-10"],
        ["Secret", "-10"],
        ["NetworkPolicy", "-10"],
        ["Job", "0"],
      ]),
    );
  });
});

withHelm.describe("monitoring", () => {
  type Rule = {
    alert?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  type Rules = { groups: { rules: Rule[] }[] };

  test("every file of alerts is a PrometheusRule, each alert with its runbook's address", async () => {
    const files = readFolder(join(chart, "alerts"), ".yaml");
    const rules = ofKind(await renderChart("production"), "PrometheusRule");
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

  const rulesWith = async (values: Record<string, unknown>) =>
    (
      ofKind(await renderChart("production", set(values)), "PrometheusRule") as unknown as {
        spec: Rules;
      }[]
    )
      .flatMap(({ spec }) => spec.groups)
      .flatMap(({ rules }) => rules);

  test("alerts that are named are left out, all of that name, and nothing else is", async () => {
    const names = (rules: readonly Rule[]) => rules.map(({ alert }) => alert);
    const left = ["PaymentLinksServiceGone", "PaymentLinksOutboxBudgetBurn"];
    const all = names(await rulesWith({}));
    const rest = names(await rulesWith({ "metrics.prometheusRule.excludeRules": left }));
    expect(rest).toEqual(all.filter((alert) => !left.includes(alert ?? "")));
    expect(rest.length).toBeLessThan(all.length - 1);
  });

  test("every alert has the labels that are given, beside its own, and no other rule", async () => {
    const given = { team: "payments", severity: "none" };
    const own = await rulesWith({});
    const rules = await rulesWith({ "metrics.prometheusRule.alertLabels": given });
    expect(rules.map(({ labels }) => labels)).toEqual(
      own.map(({ alert, labels }) => (alert === undefined ? labels : { ...given, ...labels })),
    );
    expect(new Set(own.map(({ labels }) => labels?.["severity"]))).toContain("page");
  });

  test("the ServiceMonitor has what is given for it, and by default none of it", async () => {
    const endpoint = {
      scrapeTimeout: "10s",
      relabelings: [{ targetLabel: "cluster", replacement: "one" }],
      metricRelabelings: [{ action: "drop", sourceLabels: ["__name__"], regex: "nodejs_.*" }],
    };
    const annotations = { "example.com/team": "payments" };
    const monitorWith = async (serviceMonitor: object) => {
      const values = set({
        "metrics.serviceMonitor": { enabled: true, ...serviceMonitor },
        "networkPolicy.metricsFrom": [{ podSelector: {} }],
      });
      const [monitor] = ofKind(await renderChart("minimal", values), "ServiceMonitor");
      return monitor as Manifest & { spec: { endpoints: Record<string, unknown>[] } };
    };
    const monitor = await monitorWith({ ...endpoint, annotations });
    expect(monitor.metadata.annotations).toEqual(annotations);
    expect(monitor.spec.endpoints).toMatchObject([endpoint]);
    const { spec } = await monitorWith({});
    for (const field of Object.keys(endpoint)) expect(spec.endpoints[0]).not.toHaveProperty(field);
  });

  test("every dashboard is a ConfigMap, digit for digit", async () => {
    const files = readFolder(join(chart, "dashboards"), ".json");
    const maps = ofKind(await renderChart("production"), "ConfigMap")
      .filter(({ metadata }) => metadata.labels["grafana_dashboard"] === "1")
      .map((map) => map["data"]);
    expect(maps).toEqual(files.map(({ name, text }) => ({ [name]: text })));
  });
});

const kubeconform = findTool("kubeconform");
const kubeScore = findTool("kube-score");
const eachTopology =
  (tool: string) =>
  (title: string, body: (topology: string) => Promise<void>): void => {
    const { test: testWith } = needing("helm", tool);
    for (const topology of topologies) {
      testWith(title.replace("%s", topology), () => body(topology));
    }
  };

describe("kubeconform -strict", () => {
  eachTopology("kubeconform")("passes %s", async (topology) => {
    const schemas = join(projectRoot, "test/helm/schemas");
    const location = `${schemas}/{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json`;
    const args = ["-strict", "-summary", "-schema-location", location, "-"];
    const said = await pipe(kubeconform ?? "", args, await renderText(topology));
    expect(said).toContain("Invalid: 0, Errors: 0, Skipped: 0");
  });
});

describe("kube-score", () => {
  type Ignored = { check: string; summary: string; topologies?: string[]; reason: string };
  const ignored = parse(
    readFileSync(join(projectRoot, "test/helm/kube-score-ignore.yaml"), "utf8"),
  ) as Ignored[];

  /** Every finding of kube-score below "almost ok". */
  const findings = async (topology: string) => {
    const args = ["score", "--output-format", "json", "-"];
    const found = JSON.parse(await pipe(kubeScore ?? "", args, await renderText(topology))) as {
      object_name: string;
      checks: {
        check: { id: string };
        grade: number;
        skipped: boolean;
        comments: { summary: string }[] | null;
      }[];
    }[];
    return found.flatMap(({ object_name: object, checks }) =>
      checks
        .filter(({ grade, skipped }) => !skipped && grade < almostOk)
        .flatMap(({ check, comments }) =>
          (comments ?? []).map(({ summary }) => ({ object, check: check.id, summary })),
        ),
    );
  };

  eachTopology("kube-score")(
    "finds nothing in %s but what is ignored there, and all of that",
    async (topology) => {
      const here = ignored.filter((entry) => entry.topologies?.includes(topology) ?? true);
      const found = await findings(topology);
      const isIgnored = ({ check, summary }: { check: string; summary: string }) =>
        here.some((entry) => entry.check === check && entry.summary === summary);
      expect(found.filter((finding) => !isIgnored(finding))).toEqual([]);
      const stale = here.filter(
        ({ check, topologies: only }) =>
          only !== undefined && !found.some((finding) => finding.check === check),
      );
      expect(stale).toEqual([]);
    },
  );
});

/** kube-score's grades: 1 critical, 5 warning, 7 almost ok, 10 ok. */
const almostOk = 7;

const pipe = async (tool: string, args: readonly string[], input: string): Promise<string> => {
  const running = run(tool, args, { timeout: 60_000, maxBuffer: 50_000_000 });
  running.child.stdin?.end(input);
  // Both report findings by their exit code too; the findings themselves are on stdout.
  return running.then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => error.stdout ?? error.message,
  );
};
