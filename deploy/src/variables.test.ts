import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "@jest/globals";
import * as z from "zod";
import { authKeysConfig } from "@payment-links/auth-keys";
import { linksApiConfig } from "@payment-links/links-api";
import { settlementListenerConfig } from "@payment-links/settlement-listener";
import { webhookDispatcherConfig } from "@payment-links/webhook-dispatcher";
import { processConfig } from "../../packages/process/src/config.ts";
import { adminConfig } from "./admin-call.ts";
import { allInOneConfig } from "./config.ts";

type Shape = Record<string, z.ZodType>;

/** Returns the variables that a configuration reads, with their schemas. */
const getShape = (schema: z.core.$ZodType): Shape => {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (schema instanceof z.ZodPipe) return getShape(schema.in);
  if (schema instanceof z.ZodIntersection) {
    return { ...getShape(schema.def.left), ...getShape(schema.def.right) };
  }
  throw new Error("unknown kind of configuration schema");
};

const variableSchemas: Shape = Object.assign(
  {},
  ...[
    adminConfig,
    allInOneConfig,
    processConfig,
    authKeysConfig,
    linksApiConfig,
    settlementListenerConfig,
    webhookDispatcherConfig,
  ].map(getShape),
);

/** Variables that only `src/prepare.ts` of the services reads. */
const prepareVariables = new Set([
  "MIGRATION_DATABASE_URL",
  "KAFKA_REPLICATION_FACTOR",
  "KAFKA_GRANT_USERNAME",
]);

const page = readFileSync(
  new URL("../../packages/docs/content/configuration.md", import.meta.url),
  "utf8",
);
const [, variablesTable = ""] = /\n## Variables\n([^]*)/.exec(page) ?? [];
const tableRows = [...variablesTable.matchAll(/^\| (`[A-Z].*?) \| (.*?) \| (.*) \|$/gm)];

/** Maps each variable in the first column to its default in the second column. */
const documentedDefaults = new Map(
  tableRows.flatMap(([, variables = "", defaults = ""]) => {
    const names = variables.replaceAll(/ \(.*?\)/g, "").split(", ");
    const values = defaults.split(/, (?=`|none|required)/);
    expect([variables, values.length]).toEqual([variables, names.length]);
    return names.map((name, index) => [name.replaceAll("`", ""), values[index] ?? ""] as const);
  }),
);

test("the docs explain exactly the variables that the processes read", () => {
  const isFileVariable = (name: string) =>
    name.endsWith("_FILE") && name.replace("_FILE", "") in variableSchemas;
  const isExplained = (name: string) =>
    isFileVariable(name) || variablesTable.includes(`\`${name}\``);
  expect(Object.keys(variableSchemas).filter((name) => !isExplained(name))).toEqual([]);
  const isKnownVariable = (name: string) => name in variableSchemas || prepareVariables.has(name);
  expect([...documentedDefaults.keys()].filter((name) => !isKnownVariable(name))).toEqual([]);
});

/** Returns whether an unset variable has the default that the docs document. */
const isDocumentedDefault = (name: string, value: string): boolean => {
  const variable = variableSchemas[name] ?? z.never();
  const unsetResult = variable.safeParse(undefined);
  if (value === "required") return !unsetResult.success;
  if (value === "none")
    return unsetResult.success && (unsetResult.data === undefined || isEmpty(unsetResult.data));
  return isDeepStrictEqual(unsetResult.data, variable.parse(value.replaceAll("`", "")));
};

const isEmpty = (value: unknown) => value === "" || (Array.isArray(value) && value.length === 0);

test("the README documents the default of each variable (rule OPS-4)", () => {
  // The key may come from a file instead, so a later check reports that it is missing.
  const checkedDefaults = [...documentedDefaults].filter(
    ([name]) => name in variableSchemas && name !== "WEBHOOK_SECRET_KEYS",
  );
  expect(checkedDefaults.length).toBeGreaterThan(50);
  expect(checkedDefaults.filter(([name, value]) => !isDocumentedDefault(name, value))).toEqual([]);
});
