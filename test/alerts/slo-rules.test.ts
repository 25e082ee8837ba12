import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Slo, outboxLateRule, slos } from "@payment-links/deploy/chart/slos";
import { stringify } from "yaml";
import { alertsFolder, readRules } from "./chart-rules.ts";
import { requireTools } from "../helm/require-tools.ts";
import { runPromtool } from "./promtool.ts";
import { createSloCases, promtoolTests } from "./slo-cases.ts";

const promtoolSuite = requireTools("promtool");
const sloFile = join(alertsFolder, "slo.yaml");

/**
 * Writes the chart's rules of one SLO to a file. Evaluating the rules of all SLOs in each test
 * would take six times as long.
 */
const writeSloRules = async ({ name, alert: sloAlert }: Slo): Promise<string> => {
  const groups = readRules(sloFile).groups.map((group) => ({
    name: group.name,
    rules: group.rules.filter(
      ({ alert, record, labels }) =>
        alert === sloAlert || labels["slo"] === name || record === outboxLateRule.record,
    ),
  }));
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, stringify({ groups }));
  return file;
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slo-rules-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

for (const slo of slos) {
  promtoolSuite.describe(slo.name, () => {
    test.each(createSloCases(slo).map((sloCase) => [sloCase.name, sloCase] as const))(
      "%s",
      async (name, sloCase) => {
        const file = join(folder, `${slo.name}-${name.replaceAll(/\W+/g, "-")}.yaml`);
        const text = stringify(
          {
            rule_files: [await writeSloRules(slo)],
            evaluation_interval: "1m",
            tests: promtoolTests(slo, sloCase),
          },
          { lineWidth: 0, aliasDuplicateObjects: false },
        );
        await writeFile(file, text);
        const { code, output } = await runPromtool(["test", "rules", file]);
        expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
      },
    );
  });
}
