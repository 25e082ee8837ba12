import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import {
  chartDirectory,
  listContainers,
  renderChart,
  renderText,
  buildSetArgs,
} from "./helm/render-chart.ts";
import { requireTools } from "./helm/require-tools.ts";
import { startChild } from "./rig/child.ts";

const helmSuite = requireTools("helm");

describe("the step that waits for the migrations' Secrets", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "needs-"));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const requiredKeys = [
    { kind: "ConfigMap", name: "company-ca", keys: ["ca.crt"] },
    { kind: "Secret", name: "databases", keys: ["migrations-url", "links-api-url"] },
    { kind: "Secret", name: "kafka", keys: ["password", "username"] },
  ];
  const writeValue = async (path: string, value: string) => {
    const file = join(directory, path);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, value);
  };
  const startStep = (waitSeconds: number) =>
    startChild(join(chartDirectory, "wait-for-secrets.mjs"), {
      NEEDS: JSON.stringify(requiredKeys),
      NEEDS_FOLDER: directory,
      WAIT_SECONDS: String(waitSeconds),
    });
  const waitForExitCode = async (child: ReturnType<typeof startStep>) => {
    await waitUntil("the step has ended", () => !child.isRunning());
    return child.terminate("SIGTERM");
  };

  test("ends with a line that names every missing or empty Secret and key, and no value", async () => {
    await writeValue("Secret/databases/migrations-url", "postgres://canary@postgres/pl");
    await writeValue("Secret/databases/links-api-url", "");
    await writeValue("ConfigMap/company-ca/ca.crt", "a certificate");
    const child = startStep(0);
    expect(await waitForExitCode(child)).toBe(78);
    expect(child.output().trim().split("\n").at(-1)).toBe(
      "the migrations cannot start: Secret databases lacks links-api-url; " +
        "Secret kafka is missing, or has none of password, username",
    );
    expect(child.output()).not.toContain("canary");
  });

  test("continues as soon as everything exists, however late", async () => {
    const child = startStep(3_600);
    await waitUntil("it says what it waits for", () =>
      child.output().includes("waiting up to 3600 s"),
    );
    for (const { kind, name, keys } of requiredKeys) {
      for (const key of keys) await writeValue(`${kind}/${name}/${key}`, "there");
    }
    expect(await waitForExitCode(child)).toBe(0);
  });

  test("stops on SIGTERM", async () => {
    const child = startStep(3_600);
    await waitUntil("the step reports what it waits for", () => child.output().includes("waiting"));
    expect(await child.terminate("SIGTERM")).toBe(143);
  });
});

describe("the step that waits for the migrations' servers", () => {
  const startStep = (ports: readonly number[], waitSeconds: number) => {
    const [postgres, ...brokers] = ports;
    return startChild(join(chartDirectory, "wait-for-servers.mjs"), {
      MIGRATION_DATABASE_URL: `postgres://migrations:canary@127.0.0.1:${postgres}/pl?sslmode=require`,
      KAFKA_BROKERS: brokers.map((port) => `127.0.0.1:${port}`).join(","),
      WAIT_SECONDS: String(waitSeconds),
    });
  };
  const servers: Server[] = [];
  const startServer = async (port: number | undefined) => {
    const server = createServer();
    servers.push(server);
    await once(server.listen(port, "127.0.0.1"), "listening");
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  test("ends with a line that names every unreachable server, and no password", async () => {
    const ports = await findFreePorts(3);
    const [postgresAddress, firstBroker, secondBroker] = ports.map(
      (port) => `127.0.0.1:${port} (ECONNREFUSED)`,
    );
    const child = startStep(ports, 0);
    await waitUntil("the step has ended", () => !child.isRunning());
    expect(await child.terminate("SIGTERM")).toBe(78);
    expect(child.output().trim().split("\n").at(-1)).toBe(
      `the migrations cannot start: Postgres is unreachable at ${postgresAddress}; ` +
        `Kafka is unreachable at ${firstBroker}, ${secondBroker}`,
    );
    expect(child.output()).not.toContain("canary");
  });

  test("continues as soon as Postgres and one broker are reachable, however late", async () => {
    const ports = await findFreePorts(3);
    const child = startStep(ports, 3_600);
    await waitUntil("the step waits for Postgres and Kafka", () =>
      /Postgres .* Kafka/.test(child.output()),
    );
    await startServer(ports[0]);
    await startServer(ports[2]);
    await waitUntil("the step has ended", () => !child.isRunning());
    expect(await child.terminate("SIGTERM")).toBe(0);
  });

  test("leaves a URL without a server to the migrations", async () => {
    const [broker] = await findFreePorts(1);
    await startServer(broker);
    for (const url of ["canary", "postgres:///pl?host=/sockets", "postgres://a:b@%2Fsockets/pl"]) {
      const child = startChild(join(chartDirectory, "wait-for-servers.mjs"), {
        MIGRATION_DATABASE_URL: url,
        KAFKA_BROKERS: `127.0.0.1:${broker}`,
        WAIT_SECONDS: "0",
      });
      await waitUntil("the step has ended", () => !child.isRunning());
      expect([url, await child.terminate("SIGTERM")]).toEqual([url, 0]);
      expect(child.output()).not.toContain("canary");
    }
  });

  test("stops on SIGTERM", async () => {
    const child = startStep(await findFreePorts(2), 3_600);
    await waitUntil("the step reports what it waits for", () => child.output().includes("waiting"));
    expect(await child.terminate("SIGTERM")).toBe(143);
  });
});

type Job = {
  metadata: { annotations: Record<string, string> };
  spec: {
    podFailurePolicy?: unknown;
    template: {
      spec: {
        initContainers: { name: string; terminationMessagePolicy: string; volumeMounts: unknown }[];
        volumes: { name: string; projected?: ProjectedVolume; configMap?: unknown }[];
      };
    };
  };
};
type ProjectedVolume = { defaultMode: number; sources: Record<string, ProjectionSource>[] };
type ProjectionSource = { name: string; optional: boolean; items: { key: string; path: string }[] };
type RequiredKeys = { kind: string; name: string; keys: string[] };

const renderJob = async (topology: string, extraArgs: readonly string[] = []) => {
  const manifests = await renderChart(topology, extraArgs);
  const job = manifests.find(({ kind }) => kind === "Job");
  if (job === undefined) throw new Error("the chart rendered no Job");
  return { manifests, job: job as unknown as Job, containers: listContainers([job]) };
};

helmSuite.describe("the migrations Job", () => {
  test("first waits for each Secret and ConfigMap key that its containers read", async () => {
    const requiredVariable = {
      name: "FROM",
      valueFrom: { configMapKeyRef: { name: "more", key: "from" } },
    };
    const optionalVariable = {
      name: "MAYBE",
      valueFrom: { secretKeyRef: { name: "more", key: "maybe", optional: true } },
    };
    const { job, containers } = await renderJob(
      "production",
      buildSetArgs({ "migrations.extraEnv": [requiredVariable, optionalVariable] }),
    );
    const [secretsStep] = job.spec.template.spec.initContainers;
    expect(secretsStep).toMatchObject({
      name: "wait-for-secrets",
      terminationMessagePolicy: "FallbackToLogsOnError",
      volumeMounts: [{ name: "needs", mountPath: "/needs", readOnly: true }],
    });
    const env = new Map(containers[0]?.env.map(({ name, value }) => [name, value]));
    const requiredKeys = JSON.parse(env.get("NEEDS") ?? "") as RequiredKeys[];
    const requiredPaths = requiredKeys.flatMap(({ kind, name, keys }) =>
      keys.map((key) => `${kind}/${name}/${key}`),
    );
    const requiredSecretKeys = containers
      .flatMap((container) => container.env)
      .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
      .filter((secret) => secret["optional"] !== true)
      .map(({ name, key }) => `Secret/${name}/${key}`);
    expect(requiredSecretKeys.length).toBeGreaterThan(10);
    const configMapKeys = ["ConfigMap/company-ca/ca.pem", "ConfigMap/more/from"];
    expect(new Set(requiredPaths)).toEqual(new Set([...requiredSecretKeys, ...configMapKeys]));

    const { projected } = job.spec.template.spec.volumes.find(({ name }) => name === "needs") ?? {};
    // The Job needs only the names of the files. With this mode, only root can read their values.
    expect(projected?.defaultMode).toBe(0);
    const projectedPaths = (projected?.sources ?? []).flatMap((source) =>
      Object.entries(source).flatMap(([sourceType, { name, optional: isOptional, items }]) => {
        expect(isOptional).toBe(true);
        const kind = sourceType === "secret" ? "Secret" : "ConfigMap";
        return items.map(({ key, path }) => {
          expect(path).toBe(`${kind}/${name}/${key}`);
          return path;
        });
      }),
    );
    expect(projectedPaths).toEqual(requiredPaths);
  });

  test("then waits for the Postgres and the brokers that it prepares, and reports failures in the pod's termination message", async () => {
    const { job, containers } = await renderJob("production");
    const [, serversStep] = job.spec.template.spec.initContainers;
    expect(serversStep).toMatchObject({
      name: "wait-for-servers",
      terminationMessagePolicy: "FallbackToLogsOnError",
    });
    const serverVariables = containers[1]?.env.filter(({ name }) => name !== "WAIT_SECONDS") ?? [];
    expect(serverVariables.map(({ name }) => name)).toEqual([
      "MIGRATION_DATABASE_URL",
      "KAFKA_BROKERS",
    ]);
    for (const { env } of containers.slice(2))
      expect(env).toEqual(expect.arrayContaining(serverVariables));
  });

  test("starts without its certificates, so that it can report that they are missing", async () => {
    const { job } = await renderJob("production");
    const certificatesVolume = job.spec.template.spec.volumes.find(
      ({ name }) => name === "certificates",
    );
    expect(certificatesVolume).toMatchObject({ configMap: { name: "company-ca", optional: true } });
  });

  test("waits for the configured time, and as a hook is not retried after a timeout", async () => {
    const { job, containers } = await renderJob("minimal", ["--set", "migrations.waitSeconds=7"]);
    const waitingStepNames = ["wait-for-secrets", "wait-for-servers"];
    for (const [index, name] of waitingStepNames.entries()) {
      expect(containers[index]).toMatchObject({
        name,
        env: expect.arrayContaining([{ name: "WAIT_SECONDS", value: "7" }]),
      });
    }
    const rules = waitingStepNames.map((containerName) => ({
      action: "FailJob",
      onExitCodes: { containerName, operator: "In", values: [78] },
    }));
    expect(job.spec.podFailurePolicy).toEqual({ rules });
    // Without hooks, no Helm command waits for the Job, so the Job is retried.
    const jobWithoutHooks = await renderJob("gitops");
    expect(jobWithoutHooks.job.spec.podFailurePolicy).toBeUndefined();
  });

  test("is removed after the configured time, and never when a GitOps tool created it", async () => {
    const renderJobSpec = async (topology: string, extraArgs: readonly string[] = []) =>
      (await renderJob(topology, extraArgs)).job.spec;
    expect(await renderJobSpec("minimal")).toHaveProperty("ttlSecondsAfterFinished", 86_400);
    const zeroTtl = ["--set", "migrations.ttlSecondsAfterFinished=0"];
    expect(await renderJobSpec("minimal", zeroTtl)).toHaveProperty("ttlSecondsAfterFinished", 0);
    const longTtl = buildSetArgs({ "migrations.ttlSecondsAfterFinished": 31_536_000 });
    expect(await renderText("minimal", longTtl)).toContain("ttlSecondsAfterFinished: 31536000\n");
    expect(await renderJobSpec("gitops")).not.toHaveProperty("ttlSecondsAfterFinished");
  });

  test("has the configured annotations beside the hook's, and no other object has them", async () => {
    const givenAnnotations = { "argocd.argoproj.io/sync-options": "Replace=true" };
    const annotationArgs = buildSetArgs({ "migrations.annotations": givenAnnotations });
    const hookAnnotations = {
      "helm.sh/hook": "pre-install,pre-upgrade",
      "helm.sh/hook-weight": "0",
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    };
    const { job, manifests } = await renderJob("minimal", annotationArgs);
    expect(job.metadata.annotations).toEqual({ ...givenAnnotations, ...hookAnnotations });
    expect(JSON.stringify(manifests).split("argocd.argoproj.io")).toHaveLength(2);
    expect((await renderJob("gitops", annotationArgs)).job.metadata.annotations).toEqual(
      givenAnnotations,
    );
  });

  const externalSecret = {
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata: { name: "{{ .Release.Name }}-external" },
  };
  const externalSecretArgs = buildSetArgs({ "migrations.extraObjects": [externalSecret] });

  test("runs after the object that creates its Secret, which stays when the Job is done", async () => {
    const { manifests, job } = await renderJob("minimal", externalSecretArgs);
    const created = manifests.find(({ kind }) => kind === "ExternalSecret");
    expect(created?.metadata).toEqual({
      name: "pl-external",
      labels: {},
      annotations: {
        "helm.sh/hook": "pre-install,pre-upgrade",
        "helm.sh/hook-weight": "-20",
        "helm.sh/hook-delete-policy": "before-hook-creation",
      },
    });
    expect(Number(job.metadata.annotations["helm.sh/hook-weight"])).toBeGreaterThan(-20);
  });

  test("without hooks, treats the object that creates its Secret like any other", async () => {
    const { manifests } = await renderJob("gitops", externalSecretArgs);
    const created = manifests.find(({ kind }) => kind === "ExternalSecret");
    expect(created?.metadata).toEqual({ name: "pl-external", labels: {}, annotations: {} });
  });
});
