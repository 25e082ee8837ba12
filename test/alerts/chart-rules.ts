import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { projectRoot } from "../rig/child.ts";

const chart = join(projectRoot, "helm/payment-links");
export const alertsFolder = join(chart, "alerts");
export const runbooksFolder = join(chart, "runbooks");
const dashboardsFolder = join(chart, "dashboards");

const Rule = z.strictObject({
  record: z.string().optional(),
  alert: z.string().optional(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
});
const RuleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(Rule) })),
});
export type ChartRule = z.output<typeof Rule>;

/** The paths of the chart's rule files. */
export const ruleFiles = readdirSync(alertsFolder)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => join(alertsFolder, file));

/** Reads one of the chart's rule files. */
export const readRules = (file: string) => RuleFile.parse(parse(readFileSync(file, "utf8")));

/** All rules of the chart, in file order. */
export const chartRules: readonly ChartRule[] = ruleFiles.flatMap((file) =>
  readRules(file).groups.flatMap(({ rules }) => rules),
);

/** The metrics that KEDA scales by. */
export const scalingMetrics: readonly string[] =
  readFileSync(join(chart, "templates/_scaling.tpl"), "utf8").match(/payment_links_\w+/g) ?? [];

const Dashboard = z.looseObject({
  panels: z.array(z.looseObject({ targets: z.array(z.looseObject({ expr: z.string() })) })),
});

const fillVariables = (expr: string): string =>
  expr
    .replaceAll("$__rate_interval", "5m")
    .replaceAll("$namespace", ".*")
    .replaceAll("$service", ".*");

/** Every query of every dashboard, with its variables interpolated as in Grafana. */
export const dashboardQueries: readonly string[] = readdirSync(dashboardsFolder).flatMap((file) =>
  Dashboard.parse(JSON.parse(readFileSync(join(dashboardsFolder, file), "utf8"))).panels.flatMap(
    ({ targets }) => targets.map(({ expr }) => fillVariables(expr)),
  ),
);
