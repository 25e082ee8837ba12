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
  chartDirectory,
  listContainers,
  releaseFullName,
  readDirectory,
  renderChart,
  serviceNames,
  buildSetArgs,
} from "./helm/render-chart.ts";
import { requireTools } from "./helm/require-tools.ts";
import { projectRoot } from "./rig/child.ts";

const run = promisify(execFile);
const helmSuite = requireTools("helm");

const afterInstallPage = join(projectRoot, "packages/docs/content/after-install.md");

const prometheusUrl = "http://prometheus.monitoring.svc:9090";

const renderWithKeda = (block: string, overrides: Record<string, unknown> = {}) => {
  const values = {
    "keda.prometheus.serverAddress": prometheusUrl,
    [`${block}.keda.enabled`]: true,
    ...overrides,
  };
  return renderChart("minimal", buildSetArgs(values));
};

type Trigger = {
  type: string;
  name?: string;
  metricType: string;
  metadata: Record<string, string>;
  authenticationRef?: unknown;
};
type ScaledObject = { metadata: { name: string }; spec: { triggers: Trigger[] } };

const listScaledObjects = (manifests: readonly Manifest[]) =>
  manifests.filter(({ kind }) => kind === "ScaledObject") as unknown as ScaledObject[];
const findManifest = (manifests: readonly Manifest[], kind: string, name: string) =>
  manifests.find(
    (candidate) =>
      candidate.kind === kind && candidate.metadata.name === `${releaseFullName}-${name}`,
  );

helmSuite.describe("scaling by pending work", () => {
  test("is off by default", async () => {
    expect(listScaledObjects(await renderChart("minimal"))).toEqual([]);
  });

  test.each(Object.entries(serviceBlocks))(
    "scales only %s, whose Deployment then has no replicas and no other scaler",
    async (block, name) => {
      const manifests = await renderWithKeda(block, { [`${block}.replicas`]: 1 });
      expect(listScaledObjects(manifests)).toMatchObject([
        {
          metadata: { name: `${releaseFullName}-${name}` },
          spec: {
            scaleTargetRef: { name: `${releaseFullName}-${name}` },
            minReplicaCount: 2,
            maxReplicaCount: 12,
          },
        },
      ]);
      expect(manifests.filter(({ kind }) => kind === "HorizontalPodAutoscaler")).toEqual([]);
      const deployment = findManifest(manifests, "Deployment", name);
      expect(deployment?.["spec"]).not.toHaveProperty("replicas");
      // The disruption budget and the rate limit per replica are based on the scaler's minimum.
      expect(findManifest(manifests, "PodDisruptionBudget", name)).toBeDefined();
      const [container] = listContainers(deployment === undefined ? [] : [deployment]);
      expect(container?.env).toContainEqual({ name: "RATE_LIMIT_REPLICAS", value: "2" });
    },
  );

  test("follows the configured bounds, targets and behavior", async () => {
    const behavior = { scaleDown: { stabilizationWindowSeconds: 900 } };
    const bounds = { minReplicas: 3, maxReplicas: 30 };
    const targets = { targetCpuPercent: 55, lagSeconds: 7, overdueSeconds: 77 };
    const authenticationRef = { name: "prometheus", kind: "ClusterTriggerAuthentication" };
    const manifests = await renderWithKeda("webhookDispatcher", {
      "webhookDispatcher.keda": { enabled: true, ...bounds, ...targets, behavior },
      "keda.prometheus.authModes": "bearer",
      "keda.prometheus.authenticationRef": authenticationRef,
    });
    const prometheusMetadata = { serverAddress: prometheusUrl, authModes: "bearer" };
    const query = expect.any(String);
    expect(listScaledObjects(manifests)[0]?.spec).toMatchObject({
      minReplicaCount: 3,
      maxReplicaCount: 30,
      advanced: { horizontalPodAutoscalerConfig: { behavior } },
      triggers: [
        { type: "cpu", metricType: "Utilization", metadata: { value: "55" } },
        {
          name: "lag",
          metricType: "Value",
          metadata: { ...prometheusMetadata, threshold: "7", query },
          authenticationRef,
        },
        {
          name: "overdue",
          metricType: "Value",
          metadata: { ...prometheusMetadata, threshold: "77", query },
          authenticationRef,
        },
      ],
    });
  });

  test("queries overdue webhooks only for webhook-dispatcher, and for each service its own lag", async () => {
    for (const [block, name] of Object.entries(serviceBlocks)) {
      const triggers = listScaledObjects(await renderWithKeda(block))[0]?.spec.triggers ?? [];
      const expectedTriggers = name === "webhook-dispatcher" ? ["overdue"] : [];
      expect(triggers.map((candidate) => candidate.name ?? candidate.type)).toEqual([
        "cpu",
        "lag",
        ...expectedTriggers,
      ]);
      expect(triggers[1]?.metadata["query"]).toContain(`group="${name}"`);
      expect(triggers[1]).not.toHaveProperty("authenticationRef");
    }
  });
});

requireTools("helm", "promtool").describe("the result of KEDA's Prometheus queries", () => {
  const groupLabels = 'namespace="shop",service="webhook-dispatcher",group="webhook-dispatcher"';
  /** Returns a topic's events per minute, with a lag of `lagSeconds` each. */
  const createLagSeries = (labels: string, perMinute: number, lagSeconds: number) => [
    {
      series: `payment_links_consumer_lag_seconds_sum{${labels}}`,
      values: `0+${perMinute * lagSeconds}x9`,
    },
    { series: `payment_links_consumer_lag_seconds_count{${labels}}`, values: `0+${perMinute}x9` },
  ];
  const createDueSeries = (labels: string, lagSeconds: number) => ({
    series: `payment_links_webhook_oldest_due_age_seconds{${labels}}`,
    values: `${lagSeconds}x9`,
  });
  const cases = {
    "the lag of this service's slowest topic in this namespace, averaged over its pods": {
      series: [
        ...createLagSeries(`${groupLabels},topic="payment-links.v1",pod="a"`, 60, 50),
        ...createLagSeries(`${groupLabels},topic="payment-links.v1",pod="b"`, 60, 30),
        ...createLagSeries(`${groupLabels},topic="accounts.v1",pod="a"`, 600, 1),
        ...createLagSeries(`${groupLabels.replace("shop", "other")},topic="accounts.v1"`, 60, 500),
        ...createLagSeries('namespace="shop",group="links-api",topic="accounts.v1"', 60, 500),
      ],
      lag: 40,
      overdue: 0,
    },
    "0 instead of an empty result when nothing is pending": {
      series: createLagSeries(`${groupLabels},topic="accounts.v1"`, 0, 5),
      lag: 0,
      overdue: 0,
    },
    "the age of the oldest due webhook that any pod in this namespace reports": {
      series: [
        createDueSeries('namespace="shop",pod="a"', 90),
        createDueSeries('namespace="shop",pod="b"', 91),
        createDueSeries('namespace="other",pod="a"', 900),
      ],
      lag: 0,
      overdue: 91,
    },
  };

  test.each(Object.entries(cases))("is %s", async (name, { series, lag, overdue }) => {
    const triggers =
      listScaledObjects(await renderWithKeda("webhookDispatcher"))[0]?.spec.triggers ?? [];
    const createPromqlCase = (triggerName: string, value: number) => ({
      expr: triggers.find((candidate) => candidate.name === triggerName)?.metadata["query"],
      eval_time: "8m",
      exp_samples: [{ labels: "{}", value }],
    });
    const tests = [
      {
        interval: "1m",
        input_series: series,
        promql_expr_test: [createPromqlCase("lag", lag), createPromqlCase("overdue", overdue)],
      },
    ];
    const directory = await mkdtemp(join(tmpdir(), "scaling-"));
    try {
      const file = join(directory, "test.yaml");
      await writeFile(file, stringify({ evaluation_interval: "1m", tests }, { lineWidth: 0 }));
      const { code, output } = await runPromtool(["test", "rules", file]);
      expect({ name, code, output: code === 0 ? "" : output }).toEqual({
        name,
        code: 0,
        output: "",
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

helmSuite.describe("scaling by CPU", () => {
  test("follows the configured behavior, and Kubernetes' defaults without one", async () => {
    const behavior = { scaleUp: { stabilizationWindowSeconds: 60 } };
    const scalerValues = {
      "linksApi.autoscaling": { enabled: true, behavior },
      "authKeys.autoscaling.enabled": true,
    };
    const manifests = await renderChart("minimal", buildSetArgs(scalerValues));
    const getAutoscalerSpec = (name: string) =>
      findManifest(manifests, "HorizontalPodAutoscaler", name)?.["spec"];
    expect(getAutoscalerSpec("links-api")).toMatchObject({
      minReplicas: 2,
      maxReplicas: 6,
      behavior,
    });
    expect(getAutoscalerSpec("auth-keys")).not.toHaveProperty("behavior");
  });
});

/**
 * Values that stop all services. In production, one service scales on CPU and another on consumer
 * lag.
 */
const stopAllValues = Object.keys(serviceBlocks).map((block) => `${block}.replicas=0`);
const listScalers = (manifests: readonly Manifest[]) =>
  manifests
    .map(({ kind }) => kind)
    .filter((kind) => ["HorizontalPodAutoscaler", "ScaledObject"].includes(kind));

helmSuite.describe("replicas: 0", () => {
  test("stops a service with any scaler, and leaves nothing that would start it again", async () => {
    const manifests = await renderChart("production", ["--set", stopAllValues.join(",")]);
    expect(listScalers(manifests)).toEqual([]);
    for (const name of serviceNames) {
      expect(findManifest(manifests, "Deployment", name)).toMatchObject({ spec: { replicas: 0 } });
      expect(findManifest(manifests, "PodDisruptionBudget", name)).toBeUndefined();
    }
  });

  test("stops only that service", async () => {
    const manifests = await renderChart("production", ["--set", "linksApi.replicas=0"]);
    expect(listScalers(manifests)).toEqual(["ScaledObject"]);
    expect(findManifest(manifests, "PodDisruptionBudget", "links-api")).toBeUndefined();
    expect(findManifest(manifests, "PodDisruptionBudget", "webhook-dispatcher")).toBeDefined();
  });

  test("stops quickstart's services, too", async () => {
    const manifests = await renderChart("quickstart", ["--set", stopAllValues.join(",")]);
    expect(findManifest(manifests, "Deployment", "links-api")).toMatchObject({
      spec: { replicas: 0 },
    });
  });
});

const listShellBlocks = (text: string) =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = ""]) => commands);

/**
 * If this command reported a stop too early, the operator would restore data while services are
 * still running and writing.
 */
describe("the stop command in the docs' page *After the install*", () => {
  const pageText = readFileSync(afterInstallPage, "utf8");
  const [helperScript = ""] = listShellBlocks(pageText);

  /**
   * Runs the script with stubs of Helm and kubectl that print their calls. `left` lists the pods
   * that are still running at the end.
   */
  const runStop = async ({ left = "", metadata = "" }) => {
    const script = `${helperScript}
      helm() { case $1 in get) printf '%s\\n' ${JSON.stringify(metadata)} ;; *) echo "helm $*" ;; esac; }
      kubectl() { case $3 in get) printf %s "${left}" ;; *) echo "kubectl $*" ;; esac; }
      stop`;
    const args = ["-c", `set -euo pipefail\n${script}`];
    return run("bash", args).then(
      ({ stdout }) => ({ isStopped: true, outputLines: stdout.trim().split("\n") }),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => ({
        isStopped: false,
        outputLines: `${stdout}${stderr}`.trim().split("\n"),
      }),
    );
  };

  test("is the first step of a restore and of a move", () => {
    expect(pageText.match(/^stop$/gm)).toHaveLength(2);
    expect(pageText.match(/replicas=0/g)).toHaveLength(serviceNames.length);
  });

  test("stops every service, waits for the pods of each, and then reports success", async () => {
    const { isStopped, outputLines } = await runStop({});
    expect(isStopped).toBe(true);
    const [upgradeCommand = "", waitCommand = "", lastLine] = outputLines;
    const setValues = / --set (\S+)$/.exec(upgradeCommand)?.[1]?.split(",");
    expect(setValues?.toSorted()).toEqual(stopAllValues.toSorted());
    expect(waitCommand).toContain("wait --for delete");
    const [, components = ""] = /app.kubernetes.io\/component in \((\S+)\)/.exec(waitCommand) ?? [];
    expect(components.split(",")).toEqual(serviceNames);
    expect(lastLine).toBe("All services are stopped: no pod is left.");
  });

  test("fails and reports no success while a pod is running", async () => {
    const { isStopped, outputLines } = await runStop({ left: "pod/payment-links-links-api-1" });
    expect(isStopped).toBe(false);
    expect(outputLines.at(-1)).toBe("NOT stopped: pod/payment-links-links-api-1");
  });

  test("takes ownership of the replica count from its scaler only for releases where Helm would fail", async () => {
    const getUpgradeCommand = async (metadata: string) =>
      (await runStop({ metadata })).outputLines[0];
    expect(await getUpgradeCommand("APPLY_METHOD: server-side apply")).toContain(
      "--force-conflicts",
    );
    // Helm 4 rejects this flag for releases that were installed with Helm 3. Helm 3 does not have
    // this flag.
    for (const releaseInfo of ["APPLY_METHOD: client-side apply (defaulted)", "STATUS: deployed"]) {
      expect(await getUpgradeCommand(releaseInfo)).not.toContain("--force-conflicts");
    }
  });
});

/**
 * If pods are added without Helm, Helm 4 fails to change the replica count later, and Helm 3
 * reverts it.
 */
helmSuite.describe("additional pods", () => {
  const files = [
    ...readDirectory(join(chartDirectory, "runbooks"), ".md"),
    ...readDirectory(chartDirectory, ".md"),
    ...readDirectory(join(chartDirectory, "alerts"), ".md"),
  ];

  test("are requested through values in every page and runbook, never without Helm", () => {
    const filesWithKubectlScale = files.filter(({ text }) => /kubectl scale [^`]/.test(text));
    expect(filesWithKubectlScale.map(({ name }) => name)).toEqual([]);
  });

  test("are added where a runbook's command requests them", async () => {
    const scaleCommandPattern =
      /`helm upgrade payment-links helm\/payment-links .*?--set (\w+)\.replicas=(\d+)`/g;
    const scaleCommands = files.flatMap(({ text }) => [...text.matchAll(scaleCommandPattern)]);
    expect(scaleCommands.map(([, block = ""]) => block).toSorted()).toEqual([
      "linksApi",
      "webhookDispatcher",
    ]);
    for (const [, block = "", number] of scaleCommands) {
      const name = new Map<string, string>(Object.entries(serviceBlocks)).get(block) ?? "";
      const manifests = await renderChart("minimal", ["--set", `${block}.replicas=${number}`]);
      expect(findManifest(manifests, "Deployment", name)?.["spec"]).toMatchObject({
        replicas: Number(number),
      });
    }
  });
});

/**
 * Without this step, only one pod remains after the upgrade that removes `replicas` from the
 * manifest.
 */
describe("a scaler that is enabled", () => {
  test("receives the current number of pods before the upgrade removes it", async () => {
    const pageText = readFileSync(afterInstallPage, "utf8");
    const [helperScript = ""] = listShellBlocks(pageText);
    const [commands = ""] = listShellBlocks(pageText.split("## Switch a scaler on\n")[1] ?? "");
    const script = `${helperScript}
      helm() { echo "helm $*"; }
      kubectl() { case $3 in get) printf 7 ;; *) cat; echo "kubectl $*" ;; esac; }
      ${commands}`;
    const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
    const [scalePatch = "", applyCommand, upgradeCommand] = stdout.trim().split("\n");
    expect(JSON.parse(scalePatch)).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "payment-links-links-api" },
      spec: { replicas: 7 },
    });
    // The field manager must not be Helm's, because Helm could then still remove the field.
    expect(applyCommand).toMatch(/ apply --server-side --field-manager scaler /);
    expect(upgradeCommand).toMatch(/^helm upgrade .* --set linksApi\.autoscaling\.enabled=true$/);
  });
});

/**
 * If only a Secret or the database changes, a Job that is not a hook keeps its name. An upgrade
 * then does not run the Job again.
 */
helmSuite.describe("the migrations Job without hooks", () => {
  const pageText = readFileSync(afterInstallPage, "utf8");
  const [helperScript = ""] = listShellBlocks(pageText);

  test.each(["links-api-database-url", "republish accounts"])(
    "is deleted before the upgrade that must run it again, where the page says %s",
    async (searchedText) => {
      const commands =
        listShellBlocks(pageText).find((block) => block.includes(searchedText)) ?? "";
      const script = `${helperScript}
        get() { echo postgres://links_api:old@postgres/pl; }
        put() { :; }
        roll() { :; }
        helm() { echo "helm $*"; }
        kubectl() { echo "kubectl $*"; }
        ${commands}`;
      const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
      const [deleteCommand, upgradeCommand] = stdout.split("\n");
      expect(deleteCommand).toContain(" delete job --selector app.kubernetes.io/");
      // The new role is only certain to exist when the Job has completed.
      expect(upgradeCommand).toMatch(/^helm upgrade payment-links .* --wait-for-jobs$/);
    },
  );

  test("has the labels with which the pages delete it", async () => {
    const job = (await renderChart("gitops")).find(({ kind }) => kind === "Job");
    const { labels = {} } = job?.metadata ?? {};
    const selectorKeys = ["instance", "component"].map((key) => `app.kubernetes.io/${key}`);
    const selector = selectorKeys.map((label) => `${label}=${labels[label]}`).join(",");
    for (const file of [
      afterInstallPage,
      join(chartDirectory, "DECISIONS.md"),
      join(chartDirectory, "runbooks/PaymentLinksOutboxStalled.md"),
    ]) {
      const [, documentedSelector = ""] =
        /delete job --selector "?(\S+?)["`]/.exec(readFileSync(file, "utf8")) ?? [];
      expect(documentedSelector.replace(/(\$release|<release>|payment-links)(?=,)/, "pl")).toBe(
        selector,
      );
    }
  });
});

/**
 * Helm uses only the release's name as the prefix of object names if it contains the chart's name.
 */
helmSuite.describe("a release whose name is not the chart's", () => {
  const pageText = readFileSync(afterInstallPage, "utf8");
  const [helperScript = ""] = listShellBlocks(pageText);
  const listShellBlocksUnder = (title: string) =>
    listShellBlocks(pageText.split(`## ${title}\n`)[1] ?? "");

  test("has its own objects named by the page's commands", async () => {
    const manifests = await renderChart("minimal");
    const deploymentNames = manifests
      .filter(({ kind }) => kind === "Deployment")
      .map(({ metadata }) => metadata.name);
    const [rollScript = ""] = listShellBlocksUnder("Change a secret");
    const [handOverScript = ""] = listShellBlocksUnder("Switch a scaler on");
    const script = `${helperScript}
      release=pl name=${releaseFullName}
      helm() { :; }
      kubectl() { case $3 in get) printf 7 ;; *) cat; echo ;; esac; echo "$*" >&2; }
      for service in ${serviceNames.join(" ")}; do admin "$service" < /dev/null; done
      ${rollScript}
      roll $all < /dev/null
      ${handOverScript}`;
    const { stdout, stderr } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
    const deploymentMatches = [
      ...`${stdout}${stderr}`.matchAll(/deployment[/ ](\S+)|"name":"(\S+?)"/g),
    ];
    const names = deploymentMatches.map(([, slashName, jsonName]) => slashName ?? jsonName);
    expect(names.length).toBeGreaterThan(deploymentNames.length);
    expect(new Set(names)).toEqual(new Set(deploymentNames));
  });

  test("has the migrations' log found by labels, with hooks and without", async () => {
    const [, logsScript = ""] = listShellBlocksUnder("Upgrade");
    const script = `${helperScript}
      release=pl name=${releaseFullName}
      kubectl() { echo "$*"; }
      ${logsScript}`;
    const { stdout } = await run("bash", ["-c", `set -euo pipefail\n${script}`]);
    const [, selector = ""] = / logs --selector (\S+) /.exec(stdout) ?? [];
    const selectorLabels = Object.fromEntries(
      selector.split(",").map((labelTerm) => labelTerm.split("=")),
    );
    for (const topology of ["minimal", "gitops"]) {
      const job = (await renderChart(topology)).find(({ kind }) => kind === "Job");
      expect(job).toMatchObject({
        metadata: { labels: selectorLabels },
        spec: { template: { metadata: { labels: selectorLabels } } },
      });
    }
  });
});
