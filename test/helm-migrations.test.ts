import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { chart, containersOf, renderChart, renderText, set } from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";
import { startChild } from "./rig/child.ts";
import { findFreePorts } from "./rig/free-port.ts";

const withHelm = needing("helm");

describe("the step that waits for the migrations' Secrets", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "needs-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const needs = [
    { kind: "ConfigMap", name: "company-ca", keys: ["ca.crt"] },
    { kind: "Secret", name: "databases", keys: ["migrations-url", "links-api-url"] },
    { kind: "Secret", name: "kafka", keys: ["password", "username"] },
  ];
  const put = async (path: string, value: string) => {
    const file = join(folder, path);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, value);
  };
  const start = (waitSeconds: number) =>
    startChild(join(chart, "wait-for-secrets.mjs"), {
      NEEDS: JSON.stringify(needs),
      NEEDS_FOLDER: folder,
      WAIT_SECONDS: String(waitSeconds),
    });
  const endOf = async (child: ReturnType<typeof start>) => {
    await waitUntil("the step has ended", () => !child.isRunning());
    return child.end("SIGTERM");
  };

  test("names at its end, in its last line, every Secret and key that is missing or empty, and no value", async () => {
    await put("Secret/databases/migrations-url", "postgres://canary@postgres/pl");
    await put("Secret/databases/links-api-url", "");
    await put("ConfigMap/company-ca/ca.crt", "a certificate");
    const child = start(0);
    expect(await endOf(child)).toBe(78);
    expect(child.output().trim().split("\n").at(-1)).toBe(
      "the migrations cannot begin: Secret databases lacks links-api-url; " +
        "Secret kafka is missing, or has none of password, username",
    );
    expect(child.output()).not.toContain("canary");
  });

  test("goes on as soon as all is there, however late that comes", async () => {
    const child = start(3_600);
    await waitUntil("it says what it waits for", () => child.output().includes("waiting 3600 s"));
    for (const { kind, name, keys } of needs) {
      for (const key of keys) await put(`${kind}/${name}/${key}`, "there");
    }
    expect(await endOf(child)).toBe(0);
  });

  test("hears that it is to end", async () => {
    const child = start(3_600);
    await waitUntil("it says what it waits for", () => child.output().includes("waiting"));
    expect(await child.end("SIGTERM")).toBe(143);
  });
});

describe("the step that waits for the migrations' servers", () => {
  const start = (ports: readonly number[], waitSeconds: number) => {
    const [postgres, ...brokers] = ports;
    return startChild(join(chart, "wait-for-servers.mjs"), {
      MIGRATION_DATABASE_URL: `postgres://migrations:canary@127.0.0.1:${postgres}/pl?sslmode=require`,
      KAFKA_BROKERS: brokers.map((port) => `127.0.0.1:${port}`).join(","),
      WAIT_SECONDS: String(waitSeconds),
    });
  };
  const opened: Server[] = [];
  const open = async (port: number | undefined) => {
    const server = createServer();
    opened.push(server);
    await once(server.listen(port, "127.0.0.1"), "listening");
  };
  afterEach(() => {
    for (const server of opened.splice(0)) server.close();
  });

  test("names at its end, in its last line, every server that was not reached, and no password", async () => {
    const ports = await findFreePorts(3);
    const [postgres, first, second] = ports.map((port) => `127.0.0.1:${port} (ECONNREFUSED)`);
    const child = start(ports, 0);
    await waitUntil("the step has ended", () => !child.isRunning());
    expect(await child.end("SIGTERM")).toBe(78);
    expect(child.output().trim().split("\n").at(-1)).toBe(
      `the migrations cannot begin: Postgres is not reached at ${postgres}; ` +
        `Kafka is not reached at ${first}, ${second}`,
    );
    expect(child.output()).not.toContain("canary");
  });

  test("goes on as soon as Postgres and one broker are there, however late that comes", async () => {
    const ports = await findFreePorts(3);
    const child = start(ports, 3_600);
    await waitUntil("it waits for both", () => /Postgres .* Kafka/.test(child.output()));
    await open(ports[0]);
    await open(ports[2]);
    await waitUntil("the step has ended", () => !child.isRunning());
    expect(await child.end("SIGTERM")).toBe(0);
  });

  test("leaves it to the migrations to speak of a URL without a server", async () => {
    const [broker] = await findFreePorts(1);
    await open(broker);
    for (const url of ["canary", "postgres:///pl?host=/sockets", "postgres://a:b@%2Fsockets/pl"]) {
      const child = startChild(join(chart, "wait-for-servers.mjs"), {
        MIGRATION_DATABASE_URL: url,
        KAFKA_BROKERS: `127.0.0.1:${broker}`,
        WAIT_SECONDS: "0",
      });
      await waitUntil("the step has ended", () => !child.isRunning());
      expect([url, await child.end("SIGTERM")]).toEqual([url, 0]);
      expect(child.output()).not.toContain("canary");
    }
  });

  test("hears that it is to end", async () => {
    const child = start(await findFreePorts(2), 3_600);
    await waitUntil("it says what it waits for", () => child.output().includes("waiting"));
    expect(await child.end("SIGTERM")).toBe(143);
  });
});

type Job = {
  metadata: { annotations: Record<string, string> };
  spec: {
    podFailurePolicy?: unknown;
    template: {
      spec: {
        initContainers: { name: string; terminationMessagePolicy: string; volumeMounts: unknown }[];
        volumes: { name: string; projected?: Projected; configMap?: unknown }[];
      };
    };
  };
};
type Projected = { defaultMode: number; sources: Record<string, Source>[] };
type Source = { name: string; optional: boolean; items: { key: string; path: string }[] };
type Need = { kind: string; name: string; keys: string[] };

const jobOf = async (topology: string, more: readonly string[] = []) => {
  const manifests = await renderChart(topology, more);
  const job = manifests.find(({ kind }) => kind === "Job");
  if (job === undefined) throw new Error("there is no Job");
  return { manifests, job: job as unknown as Job, containers: containersOf([job]) };
};

withHelm.describe("the migrations Job", () => {
  test("waits first, for each key that its containers read, of Secrets and ConfigMaps alike", async () => {
    const from = { name: "FROM", valueFrom: { configMapKeyRef: { name: "more", key: "from" } } };
    const optional = {
      name: "MAYBE",
      valueFrom: { secretKeyRef: { name: "more", key: "maybe", optional: true } },
    };
    const { job, containers } = await jobOf(
      "production",
      set({ "migrations.extraEnv": [from, optional] }),
    );
    const [first] = job.spec.template.spec.initContainers;
    expect(first).toMatchObject({
      name: "wait-for-secrets",
      terminationMessagePolicy: "FallbackToLogsOnError",
      volumeMounts: [{ name: "needs", mountPath: "/needs", readOnly: true }],
    });
    const env = new Map(containers[0]?.env.map(({ name, value }) => [name, value]));
    const needs = JSON.parse(env.get("NEEDS") ?? "") as Need[];
    const named = needs.flatMap(({ kind, name, keys }) =>
      keys.map((key) => `${kind}/${name}/${key}`),
    );
    const read = containers
      .flatMap((container) => container.env)
      .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
      .filter((secret) => secret["optional"] !== true)
      .map(({ name, key }) => `Secret/${name}/${key}`);
    expect(read.length).toBeGreaterThan(10);
    const files = ["ConfigMap/company-ca/ca.pem", "ConfigMap/more/from"];
    expect(new Set(named)).toEqual(new Set([...read, ...files]));

    const { projected } = job.spec.template.spec.volumes.find(({ name }) => name === "needs") ?? {};
    // Names are enough: with this mode nobody but root reads a value.
    expect(projected?.defaultMode).toBe(0);
    const shown = (projected?.sources ?? []).flatMap((source) =>
      Object.entries(source).flatMap(([form, { name, optional: isOptional, items }]) => {
        expect(isOptional).toBe(true);
        const kind = form === "secret" ? "Secret" : "ConfigMap";
        return items.map(({ key, path }) => {
          expect(path).toBe(`${kind}/${name}/${key}`);
          return path;
        });
      }),
    );
    expect(shown).toEqual(named);
  });

  test("then waits for the Postgres and the brokers that it prepares, as its pod's last word", async () => {
    const { job, containers } = await jobOf("production");
    const [, second] = job.spec.template.spec.initContainers;
    expect(second).toMatchObject({
      name: "wait-for-servers",
      terminationMessagePolicy: "FallbackToLogsOnError",
    });
    const asked = containers[1]?.env.filter(({ name }) => name !== "WAIT_SECONDS") ?? [];
    expect(asked.map(({ name }) => name)).toEqual(["MIGRATION_DATABASE_URL", "KAFKA_BROKERS"]);
    for (const { env } of containers.slice(2)) expect(env).toEqual(expect.arrayContaining(asked));
  });

  test("starts without its certificates, so that it can say that they are missing", async () => {
    const { job } = await jobOf("production");
    const certificates = job.spec.template.spec.volumes.find(({ name }) => name === "certificates");
    expect(certificates).toMatchObject({ configMap: { name: "company-ca", optional: true } });
  });

  test("waits as long as it is told, and as a hook is not tried again when that was in vain", async () => {
    const { job, containers } = await jobOf("minimal", ["--set", "migrations.waitSeconds=7"]);
    const waiting = ["wait-for-secrets", "wait-for-servers"];
    for (const [index, name] of waiting.entries()) {
      expect(containers[index]).toMatchObject({
        name,
        env: expect.arrayContaining([{ name: "WAIT_SECONDS", value: "7" }]),
      });
    }
    const rules = waiting.map((containerName) => ({
      action: "FailJob",
      onExitCodes: { containerName, operator: "In", values: [78] },
    }));
    expect(job.spec.podFailurePolicy).toEqual({ rules });
    // Without hooks nobody waits for it, so it is tried again.
    const plain = await jobOf("gitops");
    expect(plain.job.spec.podFailurePolicy).toBeUndefined();
  });

  test("is removed when it is told, or never, as what a GitOps tool made", async () => {
    const spec = async (topology: string, more: readonly string[] = []) =>
      (await jobOf(topology, more)).job.spec;
    expect(await spec("minimal")).toHaveProperty("ttlSecondsAfterFinished", 86_400);
    const soon = ["--set", "migrations.ttlSecondsAfterFinished=0"];
    expect(await spec("minimal", soon)).toHaveProperty("ttlSecondsAfterFinished", 0);
    const late = set({ "migrations.ttlSecondsAfterFinished": 31_536_000 });
    expect(await renderText("minimal", late)).toContain("ttlSecondsAfterFinished: 31536000\n");
    expect(await spec("gitops")).not.toHaveProperty("ttlSecondsAfterFinished");
  });

  test("has the annotations that it is given, beside the hook's, and nothing else has them", async () => {
    const given = { "argocd.argoproj.io/sync-options": "Replace=true" };
    const annotated = set({ "migrations.annotations": given });
    const hook = {
      "helm.sh/hook": "pre-install,pre-upgrade",
      "helm.sh/hook-weight": "0",
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    };
    const { job, manifests } = await jobOf("minimal", annotated);
    expect(job.metadata.annotations).toEqual({ ...given, ...hook });
    expect(JSON.stringify(manifests).split("argocd.argoproj.io")).toHaveLength(2);
    expect((await jobOf("gitops", annotated)).job.metadata.annotations).toEqual(given);
  });

  const external = {
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata: { name: "{{ .Release.Name }}-external" },
  };
  const withExternal = set({ "migrations.extraObjects": [external] });

  test("comes after what makes its Secret, which stays when the Job is done", async () => {
    const { manifests, job } = await jobOf("minimal", withExternal);
    const made = manifests.find(({ kind }) => kind === "ExternalSecret");
    expect(made?.metadata).toEqual({
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

  test("without hooks what makes its Secret is an object like others", async () => {
    const { manifests } = await jobOf("gitops", withExternal);
    const made = manifests.find(({ kind }) => kind === "ExternalSecret");
    expect(made?.metadata).toEqual({ name: "pl-external", labels: {}, annotations: {} });
  });
});
