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

/** The variables that a configuration reads, each with its own schema. */
const shapeOf = (schema: z.core.$ZodType): Shape => {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in);
  if (schema instanceof z.ZodIntersection) {
    return { ...shapeOf(schema.def.left), ...shapeOf(schema.def.right) };
  }
  throw new Error("what a configuration of this kind reads is not known here");
};

const read: Shape = Object.assign(
  {},
  ...[
    adminConfig,
    allInOneConfig,
    processConfig,
    authKeysConfig,
    linksApiConfig,
    settlementListenerConfig,
    webhookDispatcherConfig,
  ].map(shapeOf),
);

/** What `src/prepare.ts` of a service reads besides. */
const ofPrepare = new Set([
  "MIGRATION_DATABASE_URL",
  "KAFKA_REPLICATION_FACTOR",
  "KAFKA_GRANT_USERNAME",
]);

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [, table = ""] = /\n## Variables\n([^]*?)\n## /.exec(readme) ?? [];
const rows = [...table.matchAll(/^\| (`[A-Z].*?) \| (.*?) \| (.*) \|$/gm)];

/** Each variable of the first column with its default in the second one. */
const told = new Map(
  rows.flatMap(([, variables = "", defaults = ""]) => {
    const names = variables.replaceAll(/ \(.*?\)/g, "").split(", ");
    const values = defaults.split(/, (?=`|none|must)/);
    expect([variables, values.length]).toEqual([variables, names.length]);
    return names.map((name, at) => [name.replaceAll("`", ""), values[at] ?? ""] as const);
  }),
);

test("the README explains each variable that somebody reads, and no other", () => {
  const isTwin = (name: string) => name.endsWith("_FILE") && name.replace("_FILE", "") in read;
  const explained = (name: string) => isTwin(name) || table.includes(`\`${name}\``);
  expect(Object.keys(read).filter((name) => !explained(name))).toEqual([]);
  const isRead = (name: string) => name in read || ofPrepare.has(name);
  expect([...told.keys()].filter((name) => !isRead(name))).toEqual([]);
});

/** Whether a variable that is not given is what the README says. */
const isUnset = (name: string, value: string): boolean => {
  const variable = read[name] ?? z.never();
  const unset = variable.safeParse(undefined);
  if (value === "must") return !unset.success;
  if (value === "none") return unset.success && (unset.data === undefined || isEmpty(unset.data));
  return isDeepStrictEqual(unset.data, variable.parse(value.replaceAll("`", "")));
};

const isEmpty = (value: unknown) => value === "" || (Array.isArray(value) && value.length === 0);

test("the README tells the default of each (rule OPS-4)", () => {
  // The keys may stand in a file instead, so that they must be there is said by a later check.
  const checked = [...told].filter(([name]) => name in read && name !== "WEBHOOK_SECRET_KEYS");
  expect(checked.length).toBeGreaterThan(50);
  expect(checked.filter(([name, value]) => !isUnset(name, value))).toEqual([]);
});
