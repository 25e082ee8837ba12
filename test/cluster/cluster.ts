import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "./command.ts";

const commandMsMax = 60_000;
const podMsMax = 180_000;
const pollMs = 500;

/** One namespace of the cluster that `KUBECONFIG` names; every call has a time limit. */
export type Cluster = {
  namespace: string;
  kubectl(
    args: readonly string[],
    options?: { timeoutMs?: number; input?: string },
  ): Promise<string>;
  helm(args: readonly string[], options: { timeoutMs: number; input?: string }): Promise<string>;
  apply(...manifests: readonly object[]): Promise<void>;
  /** Starts a program of `in-cluster/` in a pod of its own, called `name`. */
  startProgram(program: ClusterProgram): Promise<void>;
  /** Waits for the program's end and answers its output; throws with the output if it failed. */
  endProgram(name: string, timeoutMs?: number): Promise<string>;
};

/**
 * A program that runs in a pod, beside everything that our images contain; it may import one file
 * of ours.
 */
type ClusterProgram = {
  name: string;
  /** Its file in `in-cluster/`. */
  file: string;
  image: string;
  env: Readonly<Record<string, string>>;
  /** Whether webhooks come to it, by `receiverLabels`. */
  isReceiver?: boolean;
};

/** The label of pods that call our services from outside the release. */
export const clientLabels = { app: "payment-links-client" };
/** The labels of those that also listen for webhooks. */
export const receiverLabels = { ...clientLabels, receives: "webhooks" };

/** Opens a namespace that may be there already. */
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
      throw new Error(`the pod ${name} is ${phase}:\n${output.slice(-8_000)}`);
    },
  };
};

/** The source of a program; a file beside it that it imports is included. */
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
        // Not run from a file: what it imports lies beside the image's own sources.
        command: ["node", "--input-type=module", "--eval"],
        // In an argument, Kubernetes reads $(NAME) as a variable and $$(NAME) as the text.
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
