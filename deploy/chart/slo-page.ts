import { slos } from "./slos.ts";

/** Renders the SLOs as a Markdown page, from the same table as the rules. */
export const renderSloPage = (): string =>
  [
    "# Objectives",
    "",
    "Made by `npm run generate` of deploy/chart/slos.ts, as `slo.yaml` is: change it there. Budgets are of 30 days.",
    "Each alert is four: a page where 14.4 times the budget burns over 1 h and 5 min (for 2 min), or 6 times over 6 h and",
    "30 min (for 15 min); a ticket where 3 times burn over 1 d and 2 h (for 1 h), or once over 3 d and 6 h (for 3 h). Fewer bad",
    "events than the last column in the long window wake nobody.",
    "",
    "| objective | promised | of | alert | at least |",
    "| --- | --- | --- | --- | --- |",
    ...slos.map(({ name, objectiveText, objective, alert, badCountMin }) => {
      const percent = `${Number((objective * 100).toFixed(3))} %`;
      const runbook = `[${alert}](../runbooks/${alert}.md)`;
      return `| \`${name}\` | ${objectiveText} | ${percent} | ${runbook} | ${badCountMin} |`;
    }),
    "",
    "What these cannot see, as a thing that is never tried is never late, is in `causes.yaml`.",
    "",
  ].join("\n");
