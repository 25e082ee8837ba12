import { dashboardText, dashboards } from "./dashboards.ts";
import { sloPageText } from "./slo-page.ts";
import { sloRulesText } from "./slo-rules.ts";
import { valuesSchemaText } from "./values-schema.ts";

/** The chart's folder, seen from here. */
export const chartFolder = new URL("../../helm/payment-links/", import.meta.url);

/** The files of the chart that are made from sources here, by their paths in the chart. */
export const chartFiles: ReadonlyMap<string, string> = new Map([
  ["values.schema.json", valuesSchemaText(new URL("values.yaml", chartFolder))],
  ["alerts/slo.yaml", sloRulesText()],
  ["alerts/README.md", sloPageText()],
  ...dashboards.map((one) => [`dashboards/${one.name}.json`, dashboardText(one)] as const),
]);
