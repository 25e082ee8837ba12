import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import { projectRoot } from "../rig/child.ts";
import { findTool } from "../rig/find-tool.ts";

const run = promisify(execFile);

export const chartDirectory = join(projectRoot, "helm/payment-links");
const helmPath = findTool("helm");

/** The chart's topologies: their file names without extension. */
export const topologies = readdirSync(join(chartDirectory, "ci")).map((file) =>
  file.replace(".yaml", ""),
);

/** The four services. */
export const serviceNames = Object.values(serviceBlocks);

/** Returns Helm arguments that set the given values. The keys are paths. */
export const buildSetArgs = (values: Record<string, unknown>): string[] =>
  Object.entries(values).flatMap(([path, value]) => [
    "--set-json",
    `${path}=${JSON.stringify(value)}`,
  ]);

/** The release's full name in every render. It is the prefix of the resource names. */
export const releaseFullName = "pl-payment-links";

/**
 * The oldest Kubernetes version that the chart supports. Without this argument, a Helm binary built
 * from source would assume an even older version.
 */
const kubeVersion = "1.29.0";

/** A rendered object with the common fields. All other fields are unchanged. */
const Manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
});
export type Manifest = z.output<typeof Manifest>;

const EnvVariable = z.looseObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .looseObject({ secretKeyRef: z.looseObject({ name: z.string(), key: z.string() }).optional() })
    .optional(),
});

const Container = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).default([]),
  env: z.array(EnvVariable).default([]),
  ports: z
    .array(z.object({ name: z.string(), containerPort: z.int(), protocol: z.string() }))
    .default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
  securityContext: z.looseObject({}),
});
export type Container = z.output<typeof Container>;

const PodSpec = z.looseObject({
  automountServiceAccountToken: z.boolean().optional(),
  securityContext: z.looseObject({}),
  initContainers: z.array(Container).default([]),
  containers: z.array(Container),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
});
export type PodSpec = z.output<typeof PodSpec>;

const WithPod = z.object({ spec: z.object({ template: z.object({ spec: PodSpec }) }) });

/**
 * Renders the chart for a topology, optionally with additional arguments or another Helm binary. If
 * Helm fails, the error contains its output.
 */
export const renderText = async (
  topology: string,
  extraArgs: readonly string[] = [],
  helmProgram = helmPath,
): Promise<string> => {
  if (helmProgram === undefined) throw new Error("helm is not installed");
  const values = join(chartDirectory, "ci", `${topology}.yaml`);
  const release = ["pl", chartDirectory, "--namespace", "shop", "--kube-version", kubeVersion];
  const args = ["template", ...release, "--values", values, ...extraArgs];
  const { stdout } = await run(helmProgram, args, { timeout: 60_000, maxBuffer: 50_000_000 });
  return stdout;
};

/** Renders the chart and returns the objects. */
export const renderChart = async (
  topology: string,
  extraArgs: readonly string[] = [],
  helmProgram = helmPath,
): Promise<Manifest[]> => parseManifests(await renderText(topology, extraArgs, helmProgram));

const parseManifests = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((manifest) => manifest !== null)
    .map((manifest) => Manifest.parse(manifest));

/**
 * Returns the pod spec of a Pod or of a workload that creates pods. Returns undefined for any other
 * kind.
 */
export const getPodSpec = (manifest: Manifest): PodSpec | undefined => {
  if (manifest.kind === "Pod") return PodSpec.parse(manifest["spec"]);
  if (!["Deployment", "Job", "StatefulSet"].includes(manifest.kind)) return undefined;
  return WithPod.parse(manifest).spec.template.spec;
};

/** Returns all containers of the rendered objects, including init containers. */
export const listContainers = (manifests: readonly Manifest[]): Container[] =>
  manifests.flatMap((manifest) => {
    const pod = getPodSpec(manifest);
    return pod === undefined ? [] : [...pod.initContainers, ...pod.containers];
  });

/**
 * Returns the files of a folder with their contents, or an empty list if the folder does not exist.
 */
export const readDirectory = (
  directory: string,
  extension: string,
): { name: string; text: string }[] =>
  (existsSync(directory) ? readdirSync(directory) : [])
    .filter((file) => file.endsWith(extension))
    .map((file) => ({ name: file, text: readFileSync(join(directory, file), "utf8") }));
