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
export const counter = (metrics: Metrics, configuration: CounterConfiguration<string>): Counter => {
  const known = metrics.getSingleMetric(configuration.name);
  return known instanceof Counter ? known : new Counter({ ...configuration, registers: [metrics] });
};

/** Opens a gauge; a second opening finds the first. */
export const gauge = (metrics: Metrics, configuration: GaugeConfiguration<string>): Gauge => {
  const known = metrics.getSingleMetric(configuration.name);
  return known instanceof Gauge ? known : new Gauge({ ...configuration, registers: [metrics] });
};

/** Opens a histogram; a second opening finds the first. */
export const histogram = (
  metrics: Metrics,
  configuration: HistogramConfiguration<string>,
): Histogram => {
  const known = metrics.getSingleMetric(configuration.name);
  return known instanceof Histogram
    ? known
    : new Histogram({ ...configuration, registers: [metrics] });
};
