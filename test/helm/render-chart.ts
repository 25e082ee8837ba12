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

/** The chart's topologies, by the names of their files. */
export const topologies = readdirSync(join(chartDirectory, "ci")).map((file) =>
  file.replace(".yaml", ""),
);

/** The four services. */
export const serviceNames = Object.values(serviceBlocks);

/** Arguments that set values, by their paths. */
export const buildSetArgs = (values: Record<string, unknown>): string[] =>
  Object.entries(values).flatMap(([path, value]) => [
    "--set-json",
    `${path}=${JSON.stringify(value)}`,
  ]);

/** The release's name in every render; its resources are named after it. */
export const releaseFullName = "pl-payment-links";

/**
 * The oldest Kubernetes that the chart takes; a Helm built from source assumes an even older one.
 */
const kubeVersion = "1.29.0";

/** A rendered object: the fields that all have, and the rest as it is. */
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

/** Renders the chart for a topology, with more values if given, or by another Helm. Throws with Helm's output. */
export const renderText = async (
  topology: string,
  extraArgs: readonly string[] = [],
  helmProgram = helmPath,
): Promise<string> => {
  if (helmProgram === undefined) throw new Error("there is no helm");
  const values = join(chartDirectory, "ci", `${topology}.yaml`);
  const release = ["pl", chartDirectory, "--namespace", "shop", "--kube-version", kubeVersion];
  const args = ["template", ...release, "--values", values, ...extraArgs];
  const { stdout } = await run(helmProgram, args, { timeout: 60_000, maxBuffer: 50_000_000 });
  return stdout;
};

/** The same as objects. */
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

/** The pod of what makes pods, or a Pod's own; undefined for everything else. */
export const getPodSpec = (manifest: Manifest): PodSpec | undefined => {
  if (manifest.kind === "Pod") return PodSpec.parse(manifest["spec"]);
  if (!["Deployment", "Job", "StatefulSet"].includes(manifest.kind)) return undefined;
  return WithPod.parse(manifest).spec.template.spec;
};

/** All containers of a render, init containers included. */
export const listContainers = (manifests: readonly Manifest[]): Container[] =>
  manifests.flatMap((manifest) => {
    const pod = getPodSpec(manifest);
    return pod === undefined ? [] : [...pod.initContainers, ...pod.containers];
  });

/** Files of a folder, each with its text; none if the folder does not exist. */
export const readDirectory = (
  directory: string,
  extension: string,
): { name: string; text: string }[] =>
  (existsSync(directory) ? readdirSync(directory) : [])
    .filter((file) => file.endsWith(extension))
    .map((file) => ({ name: file, text: readFileSync(join(directory, file), "utf8") }));
