import { AggregatorRegistry, Registry, collectDefaultMetrics } from "prom-client";

export type Metrics = Registry;

/** Opens a service's metrics; each of its series carries the label `service`. */
export const openMetrics = (service: string): Metrics => {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  return registry;
};

/** Adds what Node tells of its own process: CPU, memory, event loop, garbage collection. */
export const addProcessMetrics = (metrics: Metrics): void => {
  collectDefaultMetrics({ register: metrics });
};

/** The text of `/metrics` for the services of one process, told apart by the label `service`. */
export const exposeMetrics = async (services: readonly Metrics[]): Promise<string> => {
  const [only] = services;
  if (services.length === 1 && only !== undefined) return only.metrics();
  const families = await Promise.all(services.map((metrics) => metrics.getMetricsAsJSON()));
  return AggregatorRegistry.aggregate(families).metrics();
};

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;
