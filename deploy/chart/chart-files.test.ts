import { readFileSync, readdirSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { chartFiles, chartFolder } from "./chart-files.ts";

test.each([...chartFiles])("%s matches the output of `npm run generate`", (path, text) => {
  expect(readFileSync(new URL(path, chartFolder), "utf8")).toBe(text);
});

test("every dashboard is generated from a source", () => {
  const dashboardFiles = readdirSync(new URL("dashboards", chartFolder));
  expect(dashboardFiles.filter((name) => !chartFiles.has(`dashboards/${name}`))).toEqual([]);
});

test("the chart disables sign-up unless its values enable it (rule CALLER-37)", () => {
  const text = readFileSync(new URL("values.yaml", chartFolder), "utf8");
  expect(parse(text, { merge: true })).toMatchObject({ authKeys: { signUp: "closed" } });
});
