import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { connectPool } from "@payment-links/postgres";
import { createLog } from "@payment-links/runtime";
import { parse } from "yaml";
import { chartDirectory, readDirectory, renderText, buildSetArgs } from "./helm/render-chart.ts";
import { requireTools } from "./helm/require-tools.ts";
import { projectRoot } from "./rig/child.ts";

const helmSuite = requireTools("helm");

type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  additionalProperties?: boolean | Schema;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
  definitions?: Record<string, Schema>;
};

const schema = JSON.parse(
  readFileSync(join(chartDirectory, "values.schema.json"), "utf8"),
) as Schema;
const values = parse(readFileSync(join(chartDirectory, "values.yaml"), "utf8"), {
  merge: true,
}) as unknown;

/** Resolves a property's schema, including all references. */
const resolveSchema = (schemaNode: Schema): Schema => {
  const name = (schemaNode.$ref ?? schemaNode.allOf?.find(({ $ref }) => $ref)?.$ref)
    ?.split("/")
    .at(-1);
  return { ...(name === undefined ? {} : schema.definitions?.[name]), ...schemaNode };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns the paths at which the values and the schema differ, or at which the schema accepts a
 * misspelled name.
 */
const listDifferences = (value: unknown, schemaNode: Schema, path: string): string[] => {
  const { properties, additionalProperties } = resolveSchema(schemaNode);
  if (properties === undefined) return [];
  if (!isObject(value)) return [`${path} is not an object in values.yaml`];
  const closedProblems = additionalProperties === false ? [] : [`${path} accepts any property`];
  const undocumentedProblems = Object.keys(value)
    .filter((key) => !(key in properties))
    .map((key) => `${path}/${key} is not in the schema`);
  const propertyProblems = Object.entries(properties)
    .filter(([key]) => `${path}/${key}` !== "/global")
    .flatMap(([key, property]) => [
      ...(key in value ? [] : [`${path}/${key} is not in values.yaml`]),
      ...(resolveSchema(property).description ? [] : [`${path}/${key} has no description`]),
      ...listDifferences(value[key], property, `${path}/${key}`),
    ]);
  return [...closedProblems, ...undocumentedProblems, ...propertyProblems];
};

describe("values.schema.json", () => {
  test("names exactly the existing values, describes each, and is closed at every level", () => {
    expect(listDifferences(values, schema, "")).toEqual([]);
  });
});

describe("invalid values", () => {
  const files = readDirectory(join(projectRoot, "test/helm/bad-values"), ".yaml");

  test("cover at least 80 kinds", () => {
    expect(files.length).toBeGreaterThanOrEqual(80);
  });

  // The comments at the top of each file are texts that the error must contain. They name each
  // wrong value with its path.
  for (const { name, text } of files) {
    const expected = [...text.matchAll(/^# (.*)\n/gm)].map(([, line]) => line ?? "");
    helmSuite.test(`${name} is rejected: ${expected.join("; ")}`, async () => {
      const file = join(projectRoot, "test/helm/bad-values", name);
      const errorText = await renderText("minimal", ["--values", file]).then(
        () => "the chart was rendered",
        (error: unknown) =>
          String(error instanceof Error && "stderr" in error ? error.stderr : error),
      );
      expect(expected).not.toEqual([]);
      for (const expectedText of expected) expect(errorText).toContain(expectedText);
    });
  }

  helmSuite.test("the same values without the fault are rendered", async () => {
    expect(await renderText("minimal")).toContain("kind: Deployment");
  });

  helmSuite.test(
    "an attempt may take as long as a terminating pod allows, to the second",
    async () => {
      const renderWithTimeout = (drainDelaySeconds: number, timeoutSeconds: number) =>
        renderText("minimal", [
          ...buildSetArgs({ drainDelaySeconds, terminationGracePeriodSeconds: 60 }),
          ...buildSetArgs({ "webhookDispatcher.timeoutSeconds": timeoutSeconds }),
        ]);
      for (const drainDelaySeconds of [0, 7.5, 15]) {
        const maxTimeoutSeconds = 2 * drainDelaySeconds + 20;
        expect(await renderWithTimeout(drainDelaySeconds, maxTimeoutSeconds)).toContain(
          `WEBHOOK_TIMEOUT_SECONDS, value: "${maxTimeoutSeconds}"`,
        );
        await expect(renderWithTimeout(drainDelaySeconds, maxTimeoutSeconds + 1)).rejects.toThrow(
          `lower it to ${maxTimeoutSeconds}, or raise drainDelaySeconds`,
        );
      }
    },
  );
});

describe("the docs' page about Kubernetes", () => {
  test("lists Postgres URLs that the services accept", async () => {
    const page = readFileSync(join(projectRoot, "packages/docs/content/kubernetes.md"), "utf8");
    const queryStrings = [...page.matchAll(/postgres:\/\/.*?\?(.*?)"/g)].map(
      ([, queryString = ""]) => queryString,
    );
    expect(queryStrings).toHaveLength(2);
    for (const queryString of new Set(queryStrings)) {
      const url = `postgres://nobody:nothing@127.0.0.1:1/none?${queryString}`;
      const log = createLog({ service: "test", level: "silent" });
      const options = { url, applicationName: "test", connectionsMax: 1, log };
      await expect(connectPool(options)).rejects.toThrow("ECONNREFUSED");
    }
  });
});
