import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { openPool } from "@payment-links/postgres";
import { openLog } from "@payment-links/runtime";
import { parse } from "yaml";
import { chart, readFolder, renderText, set } from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";
import { findTool } from "./rig/find-tool.ts";
import { projectRoot } from "./rig/child.ts";

const run = promisify(execFile);
const withHelm = needing("helm");
const helmDocs = findTool("helm-docs");
const withHelmDocs = needing("helm-docs");

type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  additionalProperties?: boolean | Schema;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
  definitions?: Record<string, Schema>;
};

const schema = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")) as Schema;
const values = parse(readFileSync(join(chart, "values.yaml"), "utf8"), { merge: true }) as unknown;

/** A property's schema with everything that it refers to. */
const follow = (found: Schema): Schema => {
  const name = (found.$ref ?? found.allOf?.find(({ $ref }) => $ref)?.$ref)?.split("/").at(-1);
  return { ...(name === undefined ? {} : schema.definitions?.[name]), ...found };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Paths at which values and schema differ, or at which the schema accepts a misspelt name. */
const differences = (value: unknown, found: Schema, path: string): string[] => {
  const { properties, additionalProperties } = follow(found);
  if (properties === undefined) return [];
  if (!isObject(value)) return [`${path} is no object in values.yaml`];
  const open = additionalProperties === false ? [] : [`${path} takes any property`];
  const unnamed = Object.keys(value)
    .filter((key) => !(key in properties))
    .map((key) => `${path}/${key} is not in the schema`);
  const named = Object.entries(properties)
    .filter(([key]) => `${path}/${key}` !== "/global")
    .flatMap(([key, property]) => [
      ...(key in value ? [] : [`${path}/${key} is not in values.yaml`]),
      ...(follow(property).description ? [] : [`${path}/${key} has no description`]),
      ...differences(value[key], property, `${path}/${key}`),
    ]);
  return [...open, ...unnamed, ...named];
};

describe("values.schema.json", () => {
  test("names exactly the values that there are, describes each, and is closed at every level", () => {
    expect(differences(values, schema, "")).toEqual([]);
  });
});

describe("values that cannot be meant", () => {
  const files = readFolder(join(projectRoot, "test/helm/bad-values"), ".yaml");

  test("there are at least eighty kinds", () => {
    expect(files.length).toBeGreaterThanOrEqual(80);
  });

  // The first lines of each file say what one refusal must contain: every fault, with its path.
  for (const { name, text } of files) {
    const expected = [...text.matchAll(/^# (.*)\n/gm)].map(([, line]) => line ?? "");
    withHelm.test(`${name} is refused: ${expected.join("; ")}`, async () => {
      const file = join(projectRoot, "test/helm/bad-values", name);
      const said = await renderText("minimal", ["--values", file]).then(
        () => "it was rendered",
        (error: unknown) =>
          String(error instanceof Error && "stderr" in error ? error.stderr : error),
      );
      expect(expected).not.toEqual([]);
      for (const fault of expected) expect(said).toContain(fault);
    });
  }

  withHelm.test("the same values without the fault are rendered", async () => {
    expect(await renderText("minimal")).toContain("kind: Deployment");
  });

  withHelm.test(
    "an attempt may take as long as every pod that ends leaves it, to the second",
    async () => {
      const render = (drainDelaySeconds: number, timeoutSeconds: number) =>
        renderText("minimal", [
          ...set({ drainDelaySeconds, terminationGracePeriodSeconds: 60 }),
          ...set({ "webhookDispatcher.timeoutSeconds": timeoutSeconds }),
        ]);
      for (const drainDelaySeconds of [0, 7.5, 15]) {
        const longest = 2 * drainDelaySeconds + 20;
        expect(await render(drainDelaySeconds, longest)).toContain(
          `WEBHOOK_TIMEOUT_SECONDS, value: "${longest}"`,
        );
        await expect(render(drainDelaySeconds, longest + 1)).rejects.toThrow(
          `lower it to ${longest}, or raise drainDelaySeconds`,
        );
      }
    },
  );
});

describe("the chart's README", () => {
  withHelmDocs.test("is what helm-docs makes of the values", async () => {
    const args = ["--chart-search-root", chart, "--dry-run", "--skip-version-footer"];
    const { stdout } = await run(helmDocs ?? "", args, { timeout: 60_000 });
    const readme = readFileSync(join(chart, "README.md"), "utf8");
    expect(stdout.trim()).toBe(readme.trim());
  });

  test("tells URLs of Postgres that the services do not refuse", async () => {
    const readme = readFileSync(join(chart, "README.md"), "utf8");
    const modes = [...readme.matchAll(/postgres:\/\/.*?\?(.*?)"/g)].map(([, mode = ""]) => mode);
    expect(modes).toHaveLength(2);
    for (const mode of new Set(modes)) {
      const url = `postgres://nobody:nothing@127.0.0.1:1/none?${mode}`;
      const log = openLog({ service: "test", level: "silent" });
      const options = { url, applicationName: "test", connectionsMax: 1, log };
      await expect(openPool(options)).rejects.toThrow("ECONNREFUSED");
    }
  });
});
