import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
} from "prom-client";
import type { Metrics } from "@payment-links/runtime";

/*
 * A process may start several consumers over one registry, which takes each name once: so these
 * open the metric that is there already. Labels are topics and groups, never keys or ids.
 */

/** Opens a counter; a second opening finds the first. */
export const getOrCreateCounter = (
  metrics: Metrics,
  configuration: CounterConfiguration<string>,
): Counter => {
  const existing = metrics.getSingleMetric(configuration.name);
  return existing instanceof Counter
    ? existing
    : new Counter({ ...configuration, registers: [metrics] });
};

/** Opens a gauge; a second opening finds the first. */
export const getOrCreateGauge = (
  metrics: Metrics,
  configuration: GaugeConfiguration<string>,
): Gauge => {
  const existing = metrics.getSingleMetric(configuration.name);
  return existing instanceof Gauge
    ? existing
    : new Gauge({ ...configuration, registers: [metrics] });
};

/** Opens a histogram; a second opening finds the first. */
export const getOrCreateHistogram = (
  metrics: Metrics,
  configuration: HistogramConfiguration<string>,
): Histogram => {
  const existing = metrics.getSingleMetric(configuration.name);
  return existing instanceof Histogram
    ? existing
    : new Histogram({ ...configuration, registers: [metrics] });
};
