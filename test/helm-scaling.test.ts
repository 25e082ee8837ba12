import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import { stringify } from "yaml";
import { runPromtool } from "./alerts/promtool.ts";
import {
  type Manifest,
  chart,
  containersOf,
  fullName,
  readFolder,
  renderChart,
  serviceNames,
  set,
} from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";

const run = promisify(execFile);
const withHelm = needing("helm");

const address = "http://prometheus.monitoring.svc:9090";

const renderScaled = (block: string, more: Record<string, unknown> = {}) => {
  const values = {
    "keda.prometheus.serverAddress": address,
    [`${block}.keda.enabled`]: true,
    ...more,
  };
  return renderChart("minimal", set(values));
};

type Trigger = {
  type: string;
  name?: string;
  metricType: string;
  metadata: Record<string, string>;
  authenticationRef?: unknown;
};
type Scaled = { metadata: { name: string }; spec: { triggers: Trigger[] } };

const scaledIn = (manifests: readonly Manifest[]) =>
  manifests.filter(({ kind }) => kind === "ScaledObject") as unknown as Scaled[];
const of = (manifests: readonly Manifest[], kind: string, name: string) =>
  manifests.find((one) => one.kind === kind && one.metadata.name === `${fullName}-${name}`);

withHelm.describe("scaling by what waits", () => {
  test("is off by default", async () => {
    expect(scaledIn(await renderChart("minimal"))).toEqual([]);
  });

  test.each(Object.entries(serviceBlocks))(
    "scales %s alone, which then names no replicas and has no other scaler",
    async (block, name) => {
      const manifests = await renderScaled(block, { [`${block}.replicas`]: 1 });
      expect(scaledIn(manifests)).toMatchObject([
        {
          metadata: { name: `${fullName}-${name}` },
          spec: {
            scaleTargetRef: { name: `${fullName}-${name}` },
            minReplicaCount: 2,
            maxReplicaCount: 12,
          },
        },
      ]);
      expect(manifests.filter(({ kind }) => kind === "HorizontalPodAutoscaler")).toEqual([]);
      const deployment = of(manifests, "Deployment", name);
      expect(deployment?.["spec"]).not.toHaveProperty("replicas");
      // Its lowest number of pods counts where a number of pods does: evictions, shares of limits.
      expect(of(manifests, "PodDisruptionBudget", name)).toBeDefined();
      const [container] = containersOf(deployment === undefined ? [] : [deployment]);
      expect(container?.env).toContainEqual({ name: "RATE_LIMIT_REPLICAS", value: "2" });
    },
  );

  test("does so between the bounds, by the targets and as fast as the values say", async () => {
    const behavior = { scaleDown: { stabilizationWindowSeconds: 900 } };
    const bounds = { minReplicas: 3, maxReplicas: 30 };
    const targets = { targetCpuPercent: 55, lagSeconds: 7, overdueSeconds: 77 };
    const authenticationRef = { name: "prometheus", kind: "ClusterTriggerAuthentication" };
    const manifests = await renderScaled("webhookDispatcher", {
      "webhookDispatcher.keda": { enabled: true, ...bounds, ...targets, behavior },
      "keda.prometheus.authModes": "bearer",
      "keda.prometheus.authenticationRef": authenticationRef,
    });
    const asked = { serverAddress: address, authModes: "bearer" };
    const query = expect.any(String);
    expect(scaledIn(manifests)[0]?.spec).toMatchObject({
      minReplicaCount: 3,
      maxReplicaCount: 30,
      advanced: { horizontalPodAutoscalerConfig: { behavior } },
      triggers: [
        { type: "cpu", metricType: "Utilization", metadata: { value: "55" } },
        {
          name: "lag",
          metricType: "Value",
          metadata: { ...asked, threshold: "7", query },
          authenticationRef,
        },
        {
          name: "overdue",
          metricType: "Value",
          metadata: { ...asked, threshold: "77", query },
          authenticationRef,
        },
      ],
    });
  });

  test("asks webhook-dispatcher alone for overdue webhooks, and each service for its own lag", async () => {
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const triggers = scaledIn(await renderScaled(block))[0]?.spec.triggers ?? [];
      const overdue = name === "webhook-dispatcher" ? ["overdue"] : [];
      expect(triggers.map((one) => one.name ?? one.type)).toEqual(["cpu", "lag", ...overdue]);
      expect(triggers[1]?.metadata["query"]).toContain(`group="${name}"`);
      expect(triggers[1]).not.toHaveProperty("authenticationRef");
    }
  });
});

needing("helm", "promtool").describe("what KEDA asks Prometheus", () => {
  const group = 'namespace="shop",service="webhook-dispatcher",group="webhook-dispatcher"';
  /** A topic's events a minute, and how many seconds each was under way. */
  const applied = (labels: string, perMinute: number, seconds: number) => [
    {
      series: `payment_links_consumer_lag_seconds_sum{${labels}}`,
      values: `0+${perMinute * seconds}x9`,
    },
    { series: `payment_links_consumer_lag_seconds_count{${labels}}`, values: `0+${perMinute}x9` },
  ];
  const due = (labels: string, seconds: number) => ({
    series: `payment_links_webhook_oldest_due_age_seconds{${labels}}`,
    values: `${seconds}x9`,
  });
  const cases = {
    "the topic that is latest, over its pods, of this service here": {
      series: [
        ...applied(`${group},topic="payment-links.v1",pod="a"`, 60, 50),
        ...applied(`${group},topic="payment-links.v1",pod="b"`, 60, 30),
        ...applied(`${group},topic="accounts.v1",pod="a"`, 600, 1),
        ...applied(`${group.replace("shop", "other")},topic="accounts.v1"`, 60, 500),
        ...applied('namespace="shop",group="links-api",topic="accounts.v1"', 60, 500),
      ],
      lag: 40,
      overdue: 0,
    },
    "0, and not nothing, where nothing happens": {
      series: applied(`${group},topic="accounts.v1"`, 0, 5),
      lag: 0,
      overdue: 0,
    },
    "the oldest due webhook here, as the pods tell it": {
      series: [
        due('namespace="shop",pod="a"', 90),
        due('namespace="shop",pod="b"', 91),
        due('namespace="other",pod="a"', 900),
      ],
      lag: 0,
      overdue: 91,
    },
  };

  test.each(Object.entries(cases))("is %s", async (name, { series, lag, overdue }) => {
    const triggers = scaledIn(await renderScaled("webhookDispatcher"))[0]?.spec.triggers ?? [];
    const asked = (trigger: string, value: number) => ({
      expr: triggers.find((one) => one.name === trigger)?.metadata["query"],
      eval_time: "8m",
      exp_samples: [{ labels: "{}", value }],
    });
    const tests = [
      {
        interval: "1m",
        input_series: series,
        promql_expr_test: [asked("lag", lag), asked("overdue", overdue)],
      },
    ];
    const folder = await mkdtemp(join(tmpdir(), "scaling-"));
    try {
      const file = join(folder, "test.yaml");
      await writeFile(file, stringify({ evaluation_interval: "1m", tests }, { lineWidth: 0 }));
      const { code, said } = await runPromtool(["test", "rules", file]);
      expect({ name, code, said: code === 0 ? "" : said }).toEqual({ name, code: 0, said: "" });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

withHelm.describe("scaling by CPU", () => {
  test("is as fast as the values say, and as Kubernetes has it where they say nothing", async () => {
    const behavior = { scaleUp: { stabilizationWindowSeconds: 60 } };
    const scalers = {
      "linksApi.autoscaling": { enabled: true, behavior },
      "authKeys.autoscaling.enabled": true,
    };
    const manifests = await renderChart("minimal", set(scalers));
    const scaler = (name: string) => of(manifests, "HorizontalPodAutoscaler", name)?.["spec"];
    expect(scaler("links-api")).toMatchObject({ minReplicas: 2, maxReplicas: 6, behavior });
    expect(scaler("auth-keys")).not.toHaveProperty("behavior");
  });
});

/** Stops all, where production scales one service by CPU and another by what waits. */
const stopAll = Object.keys(serviceBlocks).map((block) => `${block}.replicas=0`);
const scalersIn = (manifests: readonly Manifest[]) =>
  manifests
    .map(({ kind }) => kind)
    .filter((kind) => ["HorizontalPodAutoscaler", "ScaledObject"].includes(kind));

withHelm.describe("replicas: 0", () => {
  test("stops a service, whatever scales it, and leaves nothing that would start it again", async () => {
    const manifests = await renderChart("production", ["--set", stopAll.join(",")]);
    expect(scalersIn(manifests)).toEqual([]);
    for (const name of serviceNames) {
      expect(of(manifests, "Deployment", name)).toMatchObject({ spec: { replicas: 0 } });
      expect(of(manifests, "PodDisruptionBudget", name)).toBeUndefined();
    }
  });

  test("stops that service alone", async () => {
    const manifests = await renderChart("production", ["--set", "linksApi.replicas=0"]);
    expect(scalersIn(manifests)).toEqual(["ScaledObject"]);
    expect(of(manifests, "PodDisruptionBudget", "links-api")).toBeUndefined();
    expect(of(manifests, "PodDisruptionBudget", "webhook-dispatcher")).toBeDefined();
  });

  test("stops what is to be tried, too", async () => {
    const manifests = await renderChart("quickstart", ["--set", stopAll.join(",")]);
    expect(of(manifests, "Deployment", "links-api")).toMatchObject({ spec: { replicas: 0 } });
  });
});

const commandsOf = (text: string) =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = ""]) => commands);

/** Whoever believes it restores under live services, which then write into what is put back. */
describe("the stop of the chart's page", () => {
  const page = readFileSync(join(chart, "after-install.md"), "utf8");
  const [preamble = ""] = commandsOf(page);

  /** Runs it where `left` is what is still there at the end, with a Helm and a kubectl that say how they are called. */
  const stop = async ({ left = "", metadata = "" }) => {
    const script = `${preamble}
      helm() { case $1 in get) printf '%s\\n' ${JSON.stringify(metadata)} ;; *) echo "helm $*" ;; esac; }
      kubectl() { case $3 in get) printf %s "${left}" ;; *) echo "kubectl $*" ;; esac; }
      stop`;
    const args = ["-c", `set -euo pipefail\n${script}`];
    return run("bash", args).then(
      ({ stdout }) => ({ isStopped: true, said: stdout.trim().split("\n") }),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => ({
        isStopped: false,
        said: `${stdout}${stderr}`.trim().split("\n"),
      }),
    );
  };

  test("is what a restore and a move begin with", () => {
    expect(page.match(/^stop$/gm)).toHaveLength(2);
    expect(page.match(/replicas=0/g)).toHaveLength(serviceNames.length);
  });

  test("stops every service, waits for the pods of each, and then says so", async () => {
    const { isStopped, said } = await stop({});
    expect(isStopped).toBe(true);
    const [upgrade = "", wait = "", last] = said;
    const sets = / --set (\S+)$/.exec(upgrade)?.[1]?.split(",");
    expect(sets?.toSorted()).toEqual(stopAll.toSorted());
    expect(wait).toContain("wait --for delete");
    const [, components = ""] = /app.kubernetes.io\/component in \((\S+)\)/.exec(wait) ?? [];
    expect(components.split(",")).toEqual(serviceNames);
    expect(last).toBe("All services are stopped: no pod is left.");
  });

  test("does not say so while a pod is there, and fails", async () => {
    const { isStopped, said } = await stop({ left: "pod/payment-links-links-api-1" });
    expect(isStopped).toBe(false);
    expect(said.at(-1)).toBe("NOT stopped: pod/payment-links-links-api-1");
  });

  test("takes the number of pods from its scaler where Helm would not, and only there", async () => {
    const upgradeWith = async (metadata: string) => (await stop({ metadata })).said[0];
    expect(await upgradeWith("APPLY_METHOD: server-side apply")).toContain("--force-conflicts");
    // Helm 4 refuses the flag for a release of Helm 3, and Helm 3 does not know it.
    for (const other of ["APPLY_METHOD: client-side apply (defaulted)", "STATUS: deployed"]) {
      expect(await upgradeWith(other)).not.toContain("--force-conflicts");
    }
  });
});

/** A number that Helm did not set is one that Helm 4 refuses to change, and that Helm 3 takes back. */
withHelm.describe("more pods", () => {
  const texts = [
    ...readFolder(join(chart, "runbooks"), ".md"),
    ...readFolder(chart, ".md"),
    ...readFolder(join(chart, "alerts"), ".md"),
  ];

  test("are ordered by the values in every page and runbook, never beside Helm", () => {
    const beside = texts.filter(({ text }) => /kubectl scale [^`]/.test(text));
    expect(beside.map(({ name }) => name)).toEqual([]);
  });

  test("come where a runbook orders them", async () => {
    const order =
      /`helm upgrade payment-links helm\/payment-links .*?--set (\w+)\.replicas=(\d+)`/g;
    const ordered = texts.flatMap(({ text }) => [...text.matchAll(order)]);
    expect(ordered.map(([, block = ""]) => block).toSorted()).toEqual([
      "linksApi",
      "webhookDispatcher",
    ]);
    for (const [, block = "", number] of ordered) {
      const name = new Map<string, string>(Object.entries(serviceBlocks)).get(block) ?? "";
      const manifests = await renderChart("minimal", ["--set", `${block}.replicas=${number}`]);
      expect(of(manifests, "Deployment", name)?.["spec"]).toMatchObject({
        replicas: Number(number),
      });
    }
  });
});

/** Without it the upgrade that takes `replicas` from a manifest leaves one pod of however many there were. */
describe("a scaler that is switched on", () => {
  test("is handed the number of pods that there are, before the upgrade forgets it", async () => {
    const page = readFileSync(join(chart, "after-install.md"), "utf8");
    const [preamble = ""] = commandsOf(page);
    const [commands = ""] = commandsOf(page.split("## Switch a scaler on\n")[1] ?? "");
    const script = `${preamble}
      helm() { echo "helm $*"; }
      kubectl() { case $3 in get) printf 7 ;; *) cat; echo "kubectl $*" ;; esac; }
      ${commands}`;
    const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
    const [handed = "", apply, upgrade] = stdout.trim().split("\n");
    expect(JSON.parse(handed)).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "payment-links-links-api" },
      spec: { replicas: 7 },
    });
    // Under Helm's own name the number would still be Helm's to take away.
    expect(apply).toMatch(/ apply --server-side --field-manager scaler /);
    expect(upgrade).toMatch(/^helm upgrade .* --set linksApi\.autoscaling\.enabled=true$/);
  });
});

/** A Job that is no hook keeps its name while only a Secret or the database changes: an upgrade leaves it as it is. */
withHelm.describe("the migrations Job without hooks", () => {
  const read = (name: string) => readFileSync(join(chart, name), "utf8");
  const page = read("after-install.md");
  const [preamble = ""] = commandsOf(page);

  test.each(["links-api-database-url", "republish accounts"])(
    "is deleted before the upgrade that is to run it again, where the page says %s",
    async (words) => {
      const commands = commandsOf(page).find((block) => block.includes(words)) ?? "";
      const script = `${preamble}
        get() { echo postgres://links_api:old@postgres/pl; }
        put() { :; }
        roll() { :; }
        helm() { echo "helm $*"; }
        kubectl() { echo "kubectl $*"; }
        ${commands}`;
      const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
      const [deletion, upgrade] = stdout.split("\n");
      expect(deletion).toContain(" delete job --selector app.kubernetes.io/");
      // Its end alone says that the new role is there.
      expect(upgrade).toMatch(/^helm upgrade payment-links .* --wait-for-jobs$/);
    },
  );

  test("is what the labels select by which the pages delete it", async () => {
    const job = (await renderChart("gitops")).find(({ kind }) => kind === "Job");
    const { labels = {} } = job?.metadata ?? {};
    const own = ["instance", "component"].map((key) => `app.kubernetes.io/${key}`);
    const selector = own.map((label) => `${label}=${labels[label]}`).join(",");
    for (const name of ["after-install.md", "README.md", "runbooks/PaymentLinksOutboxStalled.md"]) {
      const [, given = ""] = /delete job --selector "?(\S+?)["`]/.exec(read(name)) ?? [];
      expect(given.replace(/(\$release|<release>|payment-links)(?=,)/, "pl")).toBe(selector);
    }
  });
});

/** The release's name stands alone in the names of its objects only where it contains the chart's. */
withHelm.describe("a release whose name is not the chart's", () => {
  const page = readFileSync(join(chart, "after-install.md"), "utf8");
  const [preamble = ""] = commandsOf(page);
  const commandsBelow = (title: string) => commandsOf(page.split(`## ${title}\n`)[1] ?? "");

  test("has its own objects named by the page's commands", async () => {
    const manifests = await renderChart("minimal");
    const named = manifests
      .filter(({ kind }) => kind === "Deployment")
      .map(({ metadata }) => metadata.name);
    const [roll = ""] = commandsBelow("Change a secret");
    const [handOver = ""] = commandsBelow("Switch a scaler on");
    const script = `${preamble}
      release=pl name=${fullName}
      helm() { :; }
      kubectl() { case $3 in get) printf 7 ;; *) cat; echo ;; esac; echo "$*" >&2; }
      for service in ${serviceNames.join(" ")}; do admin "$service" < /dev/null; done
      ${roll}
      roll $all < /dev/null
      ${handOver}`;
    const { stdout, stderr } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
    const found = [...`${stdout}${stderr}`.matchAll(/deployment[/ ](\S+)|"name":"(\S+?)"/g)];
    const names = found.map(([, first, second]) => first ?? second);
    expect(names.length).toBeGreaterThan(named.length);
    expect(new Set(names)).toEqual(new Set(named));
  });

  test("has the migrations' log found by labels, with hooks and without", async () => {
    const [, logs = ""] = commandsBelow("Upgrade");
    const script = `${preamble}
      release=pl name=${fullName}
      kubectl() { echo "$*"; }
      ${logs}`;
    const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
    const [, selector = ""] = / logs --selector (\S+) /.exec(stdout) ?? [];
    const wanted = Object.fromEntries(selector.split(",").map((term) => term.split("=")));
    for (const topology of ["minimal", "gitops"]) {
      const job = (await renderChart(topology)).find(({ kind }) => kind === "Job");
      expect(job).toMatchObject({
        metadata: { labels: wanted },
        spec: { template: { metadata: { labels: wanted } } },
      });
    }
  });
});
