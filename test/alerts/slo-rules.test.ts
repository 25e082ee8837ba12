import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Slo, outboxLate, slos } from "@payment-links/deploy/chart/slos";
import { stringify } from "yaml";
import { alertsFolder, readRules } from "./chart-rules.ts";
import { needing } from "../helm/tools.ts";
import { runPromtool } from "./promtool.ts";
import { casesOf, promtoolTests } from "./slo-cases.ts";

const withPromtool = needing("promtool");
const sloFile = join(alertsFolder, "slo.yaml");

/** The committed rules of one objective: the rules of all would take six times as long. */
const writeRulesOf = async ({ name, alert: wanted }: Slo): Promise<string> => {
  const groups = readRules(sloFile).groups.map((group) => ({
    name: group.name,
    rules: group.rules.filter(
      ({ alert, record, labels }) =>
        alert === wanted || labels["slo"] === name || record === outboxLate.record,
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
  withPromtool.describe(slo.name, () => {
    test.each(casesOf(slo).map((one) => [one.name, one] as const))("%s", async (name, one) => {
      const file = join(folder, `${slo.name}-${name.replaceAll(/\W+/g, "-")}.yaml`);
      const text = stringify(
        {
          rule_files: [await writeRulesOf(slo)],
          evaluation_interval: "1m",
          tests: promtoolTests(slo, one),
        },
        { lineWidth: 0, aliasDuplicateObjects: false },
      );
      await writeFile(file, text);
      const { code, said } = await runPromtool(["test", "rules", file]);
      expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
    });
  });
}
