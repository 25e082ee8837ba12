import { slos } from "./slos.ts";

/** Renders the SLOs as a Markdown page, from the same table as the rules. */
export const renderSloPage = (): string =>
  [
    "# SLOs",
    "",
    "`npm run generate` generates this page and `slo.yaml` from deploy/chart/slos.ts. Error budgets cover 30 days.",
    "Each alert has four rules:",
    "",
    "- page: the burn rate exceeds 14.4 over both 1 h and 5 min, for 2 min",
    "- page: it exceeds 6 over both 6 h and 30 min, for 15 min",
    "- ticket: it exceeds 3 over both 1 d and 2 h, for 1 h",
    "- ticket: it exceeds 1 over both 3 d and 6 h, for 3 h",
    "",
    "A rule also requires a minimum number of bad events (for `outbox-age`: bad minutes) in its long window.",
    "",
    "| name | SLO | target | alert | minimum |",
    "| --- | --- | --- | --- | --- |",
    ...slos.map(({ name, objectiveText, objective, alert, badCountMin }) => {
      const percent = `${Number((objective * 100).toFixed(3))} %`;
      const runbook = `[${alert}](../runbooks/${alert}.md)`;
      return `| \`${name}\` | ${objectiveText} | ${percent} | ${runbook} | ${badCountMin} |`;
    }),
    "",
    "The SLOs cannot detect work that never starts, such as a webhook without an attempt. The alerts in `causes.yaml` do.",
    "",
  ].join("\n");
