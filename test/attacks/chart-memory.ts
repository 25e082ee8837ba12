import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceName } from "@payment-links/deploy/ingress";
import { parse } from "yaml";
import * as z from "zod";
import { projectRoot } from "../rig/child.ts";

const Service = z.object({
  resources: z.object({ limits: z.object({ memory: z.string().regex(/^\d+Mi$/) }) }),
});
const Values = z.object({
  authKeys: Service,
  linksApi: Service,
  settlementListener: Service,
  webhookDispatcher: Service,
});

const readChartFile = (file: string): string =>
  readFileSync(join(projectRoot, "helm/payment-links", file), "utf8");

/** The chart's default memory limit for a service's pod, and the heap limit within it. */
export type ChartMemory = { limitMib: number; heapMib: number };

/** Returns the memory limits of each service from the chart's default values and templates. */
export const readChartMemory = (): Record<ServiceName, ChartMemory> => {
  const values = Values.parse(parse(readChartFile("values.yaml"), { merge: true }));
  const percentage = /--max-old-space-size-percentage=(\d+)/.exec(
    readChartFile("templates/_env.tpl"),
  )?.[1];
  if (percentage === undefined) throw new Error("the chart sets no heap limit");
  const toChartMemory = ({ resources }: z.infer<typeof Service>): ChartMemory => {
    const limitMib = Number.parseInt(resources.limits.memory, 10);
    return { limitMib, heapMib: Math.floor((limitMib * Number(percentage)) / 100) };
  };
  return {
    "auth-keys": toChartMemory(values.authKeys),
    "links-api": toChartMemory(values.linksApi),
    "settlement-listener": toChartMemory(values.settlementListener),
    "webhook-dispatcher": toChartMemory(values.webhookDispatcher),
  };
};
