import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import { stringify } from "yaml";
import { runPromtool } from "./alerts/promtool.ts";
import { type Manifest, containersOf, fullName, renderChart, set } from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";

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
