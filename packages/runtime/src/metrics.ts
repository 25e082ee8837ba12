import { Registry, collectDefaultMetrics } from "prom-client";

export type Metrics = Registry;

/** Opens a service's metrics; each of its series carries the label `service`. */
export const createMetrics = (service: string): Metrics => {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  return registry;
};

/**
 * How often the delay of the event loop is sampled. A delay is told with this interval in it. At the
 * 10 ms that prom-client samples by itself, an idle process woke a hundred times a second: 1 % of a core;
 * at 100 ms it was still a third of what it did. A loop that is often late shows between two scrapes.
 */
const eventLoopSampleMs = 500;

/** Adds what Node tells of its own process: CPU, memory, event loop, garbage collection. */
export const addProcessMetrics = (metrics: Metrics): void => {
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: eventLoopSampleMs });
  // These are gauges with counters' names. The ones without `_total` tell the same, by type.
  for (const kind of ["handles", "requests", "resources"]) {
    metrics.removeSingleMetric(`nodejs_active_${kind}_total`);
  }
};

/**
 * The text of `/metrics` for the services of one process, told apart by the label `service`. Each
 * family has its HELP and TYPE once. A family that cannot be collected is left out, with a comment.
 */
export const renderMetrics = async (registries: readonly Metrics[]): Promise<string> => {
  const families = new Map<string, string[]>();
  const pendingFamilies = registries.flatMap((metrics) =>
    metrics.getMetricsAsArray().map(({ name }) => collectFamily(metrics, name)),
  );
  for (const { name, headerLines, samples } of await Promise.all(pendingFamilies)) {
    const lines = families.get(name);
    if (lines === undefined) families.set(name, [...headerLines, ...samples]);
    else lines.push(...samples);
  }
  return `${[...families.values()].map((lines) => lines.join("\n")).join("\n\n")}\n`;
};

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

type Family = { name: string; headerLines: string[]; samples: string[] };

const collectFamily = async (metrics: Metrics, name: string): Promise<Family> => {
  try {
    const [help = "", type = "", ...samples] = (await metrics.getSingleMetricAsString(name)).split(
      "\n",
    );
    return { name, headerLines: [help, type], samples };
  } catch {
    // A gauge that asks a database and fails must not take the others with it.
    return {
      name: `${name} failed`,
      headerLines: [],
      samples: [`# ${name} could not be collected`],
    };
  }
};
