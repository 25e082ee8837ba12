import { renderDashboard, dashboards } from "./dashboards.ts";
import { renderSloPage } from "./slo-page.ts";
import { renderSloRules } from "./slo-rules.ts";
import { renderValuesSchema } from "./values-schema.ts";

/** The chart's folder. */
export const chartFolder = new URL("../../helm/payment-links/", import.meta.url);

/** The generated files of the chart, by their paths in the chart. */
export const chartFiles: ReadonlyMap<string, string> = new Map([
  ["values.schema.json", renderValuesSchema(new URL("values.yaml", chartFolder))],
  ["alerts/slo.yaml", renderSloRules()],
  ["alerts/README.md", renderSloPage()],
  ...dashboards.map(
    (dashboard) => [`dashboards/${dashboard.name}.json`, renderDashboard(dashboard)] as const,
  ),
]);
