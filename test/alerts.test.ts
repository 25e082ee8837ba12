import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import {
  type ChartRule,
  chartRules,
  dashboardQueries,
  ruleFiles,
  runbooksFolder,
} from "./alerts/chart-rules.ts";
import { extractMetricNames } from "./alerts/metric-names.ts";
import { requireTools } from "./helm/require-tools.ts";
import { runPromtool } from "./alerts/promtool.ts";

const run = promisify(execFile);
const promtoolSuite = requireTools("promtool");
const alerts = chartRules.filter(({ alert }) => alert !== undefined);

describe("alerts and runbooks", () => {
  test("every alert has a runbook, and every runbook an alert", async () => {
    const runbookNames = new Set(alerts.map(({ alert }) => `${alert}.md`));
    expect((await readdir(runbooksFolder)).sort()).toEqual([...runbookNames].sort());
  });

  test("every runbook has meaning, impact, diagnosis and mitigation, with commands that parse", async () => {
    for (const file of await readdir(runbooksFolder)) {
      const text = await readFile(join(runbooksFolder, file), "utf8");
      const headings = text.match(/^#+ .*$/gm);
      expect(headings).toEqual([
        `# ${file.replace(".md", "")}`,
        "## Meaning",
        "## Impact",
        "## Diagnosis",
        "## Mitigation",
      ]);
      const commands = /```sh\n([^`]+)```/.exec(text)?.[1] ?? "";
      expect(commands).not.toBe("");
      await run("bash", ["-n", "-c", commands]);
    }
  });

  test("every alert is a page or a ticket, and describes what happened", () => {
    const isIncomplete = ({ labels, annotations }: ChartRule) =>
      !/^(?:page|ticket)$/.test(labels["severity"] ?? "") ||
      (annotations["summary"] ?? "") === "" ||
      (annotations["description"] ?? "") === "";
    expect(alerts.filter(isIncomplete).map(({ alert }) => alert)).toEqual([]);
  });

  // Prometheus 3 stores a bucket bound of 15 as `15.0`. Prometheus 2 stores it as written.
  test("an expression finds a bucket of whole seconds in Prometheus 2 and 3", () => {
    const expressions = [...chartRules.map(({ expr }) => expr), ...dashboardQueries];
    expect(expressions.filter((expr) => expr.includes("le=~")).length).toBeGreaterThan(0);
    expect(expressions.filter((expr) => /le="\d+"/.test(expr))).toEqual([]);
  });

  // An on-call engineer opens the dashboards first. An alert is hard to verify if its metric is
  // missing there.
  test("a dashboard shows every metric that an alert reads", () => {
    const drawnMetrics = new Set(dashboardQueries.flatMap(extractMetricNames));
    const undrawnMetrics = alerts.flatMap(({ alert, expr }) =>
      extractMetricNames(expr)
        .filter((name) => !drawnMetrics.has(name))
        .map((name) => `${alert}: ${name}`),
    );
    expect(undrawnMetrics).toEqual([]);
  });

  test("runbooks name only metrics that a rule or dashboard of the chart uses", async () => {
    const knownExpressions = [...chartRules.map(({ expr }) => expr), ...dashboardQueries].join(" ");
    for (const file of await readdir(runbooksFolder)) {
      const text = await readFile(join(runbooksFolder, file), "utf8");
      for (const name of text.match(/\bpayment_links_\w+/g) ?? [])
        expect(knownExpressions).toContain(name);
    }
  });
});

describe("extractMetricNames", () => {
  test.each([
    ['sum by (a, le) (rate(b_total{c="d e"}[5m]))', ["b_total"]],
    ["a:b:c > 1 and on (x) d unless d offset 1h", ["a:b:c", "d"]],
    ["time() - max by (g) (a_seconds) > bool 5", ["a_seconds"]],
    ["(a or 0 * a) / b", ["a", "b"]],
  ])("returns the metrics of %s", (expr, names) => {
    expect(extractMetricNames(expr)).toEqual(names);
  });
});

promtoolSuite.describe("promtool", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "alerts-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("check rules accepts every file", async () => {
    expect(await runPromtool(["check", "rules", ...ruleFiles])).toMatchObject({ code: 0 });
  });

  test("check rules parses every query of every dashboard", async () => {
    const rules = dashboardQueries.map((expr, index) => ({
      record: `dashboard:query:${index}`,
      expr,
    }));
    const file = join(directory, "dashboards.yaml");
    await writeFile(file, stringify({ groups: [{ name: "dashboards", rules }] }, { lineWidth: 0 }));
    expect(dashboardQueries.length).toBeGreaterThan(50);
    const { code, output } = await runPromtool(["check", "rules", file]);
    expect({ code, said: output }).toMatchObject({ code: 0 });
  });
});
