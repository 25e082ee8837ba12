import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { projectRoot } from "../rig/child.ts";

const Values = z.object({
  linksApi: z.object({
    resources: z.object({ limits: z.object({ memory: z.string().regex(/^\d+Mi$/) }) }),
  }),
});

const read = (file: string): string =>
  readFileSync(join(projectRoot, "helm/payment-links", file), "utf8");

/** The memory that the chart gives one pod of links-api by default, and the heap within it. */
export const chartMemory = (): { limitMib: number; heapMib: number } => {
  const values = Values.parse(parse(read("values.yaml"), { merge: true }));
  const limitMib = Number.parseInt(values.linksApi.resources.limits.memory, 10);
  const percentage = /--max-old-space-size-percentage=(\d+)/.exec(read("templates/_env.tpl"))?.[1];
  if (percentage === undefined) throw new Error("the chart sets no limit of the heap");
  return { limitMib, heapMib: Math.floor((limitMib * Number(percentage)) / 100) };
};
