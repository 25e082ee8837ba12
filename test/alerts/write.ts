// `node test/alerts/write.ts`: writes the rules of the objectives and the dashboards into the chart.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";
import { dashboardText, dashboards } from "./dashboards.ts";
import { sloPageText } from "./slo-page.ts";
import { sloRulesText } from "./slo-rules.ts";

const chart = join(projectRoot, "helm/payment-links");
writeFileSync(join(chart, "alerts/slo.yaml"), sloRulesText());
writeFileSync(join(chart, "alerts/README.md"), sloPageText());
for (const dashboard of dashboards) {
  writeFileSync(join(chart, "dashboards", `${dashboard.name}.json`), dashboardText(dashboard));
}
