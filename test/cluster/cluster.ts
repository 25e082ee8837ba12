import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "./command.ts";

const commandMsMax = 60_000;
const podMsMax = 180_000;
const pollMs = 500;

/** A namespace of the cluster that `KUBECONFIG` selects. Every call has a timeout. */
export type Cluster = {
  namespace: string;
  kubectl(
    args: readonly string[],
    options?: { timeoutMs?: number; input?: string },
  ): Promise<string>;
  helm(args: readonly string[], options: { timeoutMs: number; input?: string }): Promise<string>;
  apply(...manifests: readonly object[]): Promise<void>;
  /** Starts a program of `in-cluster/` in its own pod with the given name. */
  startProgram(program: ClusterProgram): Promise<void>;
  /**
   * Waits until the program exits and returns its output. If the program fails, the error contains
   * the output.
   */
  endProgram(name: string, timeoutMs?: number): Promise<string>;
};

/**
 * A program that runs in a pod with the contents of the service images. It can import one file of
 * `in-cluster/`.
 */
type ClusterProgram = {
  name: string;
  /** The program's file in `in-cluster/`. */
  file: string;
  image: string;
  env: Readonly<Record<string, string>>;
  /** Whether it receives webhooks, selected by `receiverLabels`. */
  isReceiver?: boolean;
};

/** The label of pods that call the services from outside the release. */
export const clientLabels = { app: "payment-links-client" };
/** The labels of those pods that also receive webhooks. */
export const receiverLabels = { ...clientLabels, receives: "webhooks" };

/** Creates a client for a namespace. The namespace can already exist. */
export const createCluster = (namespace: string): Cluster => {
  const kubectl: Cluster["kubectl"] = (args, { timeoutMs = commandMsMax, ...options } = {}) =>
    runCommand("kubectl", ["--namespace", namespace, ...args], { timeoutMs, ...options });
  const apply = async (...manifests: readonly object[]) => {
    const input = manifests.map((manifest) => JSON.stringify(manifest)).join("\n---\n");
    await kubectl(["apply", "--filename", "-"], { input });
  };
  return {
    namespace,
    kubectl,
    apply,
    helm: (args, options) => runCommand("helm", ["--namespace", namespace, ...args], options),
    startProgram: async (program) => {
      await kubectl(["delete", "pod", program.name, "--ignore-not-found", "--now"]);
      await apply(programPod(program, await readProgram(program.file)));
    },
    endProgram: async (name, timeoutMs = podMsMax) => {
      const phase = await waitForEnd(kubectl, name, timeoutMs);
      const output = await kubectl(["logs", name]);
      if (phase === "Succeeded") return output;
      throw new Error(`pod ${name} is ${phase}:\n${output.slice(-8_000)}`);
    },
  };
};

/** Reads the source of a program, including a file of the same folder that it imports. */
const readProgram = async (file: string): Promise<string> => {
  const folder = new URL("in-cluster/", import.meta.url);
  const source = await readFile(new URL(file, folder), "utf8");
  const sharedFile = /from "\.\/([a-z-]+\.mjs)"/.exec(source)?.[1];
  if (sharedFile === undefined) return source;
  const encoded = await readFile(new URL(sharedFile, folder), "base64");
  return source.replace(`./${sharedFile}`, `data:text/javascript;base64,${encoded}`);
};

const waitForEnd = async (kubectl: Cluster["kubectl"], name: string, timeoutMs: number) => {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const phase = await kubectl(["get", "pod", name, "--output", "jsonpath={.status.phase}"]);
    if (phase === "Succeeded" || phase === "Failed" || performance.now() > endsAtMs) return phase;
    await sleep(pollMs);
  }
};

const programPod = ({ name, image, env, isReceiver = false }: ClusterProgram, source: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { ...(isReceiver ? receiverLabels : clientLabels), program: name } },
  spec: {
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "program",
        image,
        imagePullPolicy: "IfNotPresent",
        // The program is passed as an argument instead of a file, because its imports are resolved
        // next to the image's own sources.
        command: ["node", "--input-type=module", "--eval"],
        // In arguments, Kubernetes replaces $(NAME) with a variable. $$ escapes it.
        args: [source.replaceAll("$(", "$$(")],
        env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "384Mi" } },
      },
    ],
  },
});
