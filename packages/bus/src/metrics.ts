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
 * A process can start several consumers with one registry, which accepts each name only once. These
 * functions therefore return an existing metric. Labels are topics and groups, never keys or ids.
 */

/** Returns the counter with this name; creates it on the first call. */
export const getOrCreateCounter = (
  metrics: Metrics,
  configuration: CounterConfiguration<string>,
): Counter => {
  const existing = metrics.getSingleMetric(configuration.name);
  return existing instanceof Counter
    ? existing
    : new Counter({ ...configuration, registers: [metrics] });
};

/** Returns the gauge with this name; creates it on the first call. */
export const getOrCreateGauge = (
  metrics: Metrics,
  configuration: GaugeConfiguration<string>,
): Gauge => {
  const existing = metrics.getSingleMetric(configuration.name);
  return existing instanceof Gauge
    ? existing
    : new Gauge({ ...configuration, registers: [metrics] });
};

/** Returns the histogram with this name; creates it on the first call. */
export const getOrCreateHistogram = (
  metrics: Metrics,
  configuration: HistogramConfiguration<string>,
): Histogram => {
  const existing = metrics.getSingleMetric(configuration.name);
  return existing instanceof Histogram
    ? existing
    : new Histogram({ ...configuration, registers: [metrics] });
};
