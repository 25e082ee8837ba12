import { createSecretKey } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import { beforeAll, expect, test } from "@jest/globals";
import { findService } from "@payment-links/deploy/ingress";
import * as z from "zod";
import {
  type Manifest,
  listContainers,
  releaseFullName,
  getPodSpec,
  renderChart,
  renderText,
  serviceNames,
} from "./helm/render-chart.ts";
import { requireTools } from "./helm/require-tools.ts";
import { findTool } from "./rig/find-tool.ts";
import { startNginxWithConfig } from "./rig/nginx.ts";

const AddressInfo = z.object({ port: z.int() });
const GeneratedSecret = z.object({ data: z.record(z.string(), z.string()) });
const OriginConfig = z.object({ data: z.object({ "origin.conf": z.string() }) });
const VolumeClaims = z.object({
  spec: z.object({
    volumeClaimTemplates: z
      .array(z.object({ metadata: z.object({ name: z.string() }) }))
      .default([]),
  }),
});

const findManifest = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const manifest = manifests.find(
    (candidate) => candidate.kind === kind && candidate.metadata.name === name,
  );
  if (manifest === undefined) throw new Error(`the chart rendered no ${kind} ${name}`);
  return manifest;
};

requireTools("helm").describe("a quickstart", () => {
  let manifests: readonly Manifest[] = [];
  beforeAll(async () => {
    manifests = await renderChart("quickstart");
  });
  const readGeneratedSecrets = () => {
    const { data } = GeneratedSecret.parse(
      findManifest(manifests, "Secret", `${releaseFullName}-quickstart`),
    );
    return new Map(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  };

  test("includes Postgres, Kafka and Redis at the addresses that the services use", () => {
    for (const serverName of ["postgres", "kafka", "redis"]) {
      findManifest(manifests, "StatefulSet", `${releaseFullName}-${serverName}`);
      findManifest(manifests, "Service", `${releaseFullName}-${serverName}`);
      findManifest(manifests, "NetworkPolicy", `${releaseFullName}-${serverName}`);
    }
    const brokers = listContainers(manifests)
      .flatMap(({ env }) => env)
      .filter(({ name }) => name === "KAFKA_BROKERS");
    expect(new Set(brokers.map(({ value }) => value))).toEqual(
      new Set([`${releaseFullName}-kafka:9092`]),
    );
    const secrets = readGeneratedSecrets();
    expect(secrets.get("redis-url")).toBe(`redis://${releaseFullName}-redis:6379`);
    for (const [key, value] of secrets) {
      if (!key.endsWith("database-url")) continue;
      expect(new URL(value).host).toBe(`${releaseFullName}-postgres:5432`);
    }
  });

  test("generates each secret that its pods reference, with new values each time", async () => {
    const secrets = readGeneratedSecrets();
    const secretRefs = listContainers(manifests)
      .flatMap(({ env }) => env)
      .map(({ valueFrom }) => valueFrom?.secretKeyRef)
      .filter((ref) => ref !== undefined && ref.optional !== true);
    expect(secretRefs.length).toBeGreaterThan(20);
    for (const ref of secretRefs) {
      expect(ref?.name).toBe(`${releaseFullName}-quickstart`);
      expect(secrets.get(ref?.key ?? "")).toMatch(/./);
    }
    const [, sealingKey = ""] = secrets.get("webhook-secret-keys")?.split(/=(.*)/s) ?? [];
    expect(createSecretKey(sealingKey, "base64").symmetricKeySize).toBe(32);
    const password = new URL(secrets.get("migration-database-url") ?? "").password;
    expect(password).toBe(secrets.get("postgres-password"));
    manifests = await renderChart("quickstart");
    const regeneratedSecrets = readGeneratedSecrets();
    const unchangedEntries = [...secrets].filter(
      ([key, value]) => regeneratedSecrets.get(key) === value,
    );
    expect(unchangedEntries.map(([key]) => key)).toEqual(["redis-url"]);
  });

  test("prepares the database in parallel, not in advance, and waits until it is available", async () => {
    const jobs = manifests.filter(({ kind }) => kind === "Job");
    expect(jobs.map(({ metadata }) => Object.keys(metadata.annotations))).toEqual([[]]);
    const waitStep = listContainers(jobs).find(({ name }) => name === "wait-for-servers");
    // This is as long as the Job is allowed to take, because the images are pulled during this
    // time.
    const env = new Map(waitStep?.env.map((candidate) => [candidate.name, candidate]));
    expect(env.get("WAIT_SECONDS")?.value).toBe("3600");
    expect(env.get("KAFKA_BROKERS")?.value).toBe(`${releaseFullName}-kafka:9092`);
    const { name, key } = env.get("MIGRATION_DATABASE_URL")?.valueFrom?.secretKeyRef ?? {};
    expect([name, key]).toEqual([`${releaseFullName}-quickstart`, "migration-database-url"]);
  });

  test("has one pod per service, so that a small node can run it", () => {
    const replicas = manifests
      .filter(({ kind }) => kind === "Deployment")
      .map(
        (candidate) =>
          z.object({ spec: z.object({ replicas: z.int() }) }).parse(candidate).spec.replicas,
      );
    expect(replicas).toEqual([1, 1, 1, 1, 1]);
    expect(manifests.filter(({ kind }) => kind === "PodDisruptionBudget")).toEqual([]);
  });

  test("routes every path of the single origin like an Ingress", () => {
    const { data } = OriginConfig.parse(
      findManifest(manifests, "ConfigMap", `${releaseFullName}-quickstart`),
    );
    const locations = [
      ...data["origin.conf"].matchAll(/location (= )?(\S+) \{ proxy_pass http:\/\/(\S+):8080; \}/g),
    ];
    // nginx first looks for an exact location and then for the longest matching prefix.
    const findServiceByNginxRules = (path: string) =>
      (
        locations.find(
          ([, exactModifier, location]) => exactModifier !== undefined && location === path,
        ) ??
        locations
          .filter(
            ([, exactModifier, location = ""]) =>
              exactModifier === undefined && path.startsWith(location),
          )
          .toSorted(([, , first = ""], [, , second = ""]) => second.length - first.length)[0]
      )?.[3]?.replace(`${releaseFullName}-`, "");
    const paths = locations.flatMap(([, , location = ""]) => [
      location,
      `${location}x`,
      `${location.replace(/\/$/, "")}/x`,
    ]);
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths)
      expect([path, findServiceByNginxRules(path)]).toEqual([path, findService(path)]);
  });

  requireTools("nginx").test(
    "has a configuration that a real nginx accepts, and that routes each path to its service",
    async () => {
      const { data } = OriginConfig.parse(
        findManifest(manifests, "ConfigMap", `${releaseFullName}-quickstart`),
      );
      const servers: Server[] = [];
      let config = data["origin.conf"];
      for (const service of serviceNames) {
        const server = createServer((req, res) => res.end(`${service} ${req.headers.host}`));
        servers.push(server);
        await once(server.listen(0, "127.0.0.1"), "listening");
        const { port } = AddressInfo.parse(server.address());
        config = config.replaceAll(`${releaseFullName}-${service}:8080`, `127.0.0.1:${port}`);
      }
      const nginx = await startNginxWithConfig(findTool("nginx") ?? "", ({ directory, port }) =>
        config
          .replace("listen 8080", `listen 127.0.0.1:${port}`)
          .replaceAll("/tmp/", `${directory}/`),
      );
      try {
        for (const path of [
          "/console/api/session",
          "/console/apix",
          "/checkout/images/a",
          "/checkout/pictures/a",
          "/settlement-notices/a",
          "/",
        ]) {
          const response = await fetch(`http://127.0.0.1:${nginx.port}${path}`);
          expect([path, await response.text()]).toEqual([
            path,
            `${findService(path)} 127.0.0.1:${nginx.port}`,
          ]);
        }
      } finally {
        await nginx.close();
        for (const server of servers) server.close();
      }
    },
  );

  test("stores persistent data on volumes only if storage is requested", async () => {
    const listVolumeClaims = (serverName: string) =>
      VolumeClaims.parse(findManifest(manifests, "StatefulSet", `${releaseFullName}-${serverName}`))
        .spec.volumeClaimTemplates;
    expect(
      ["postgres", "kafka", "redis"].map((serverName) => listVolumeClaims(serverName).length),
    ).toEqual([1, 1, 0]);
    manifests = await renderChart("quickstart", ["--set", "quickstart.storage="]);
    expect(
      ["postgres", "kafka", "redis"].map((serverName) => listVolumeClaims(serverName).length),
    ).toEqual([0, 0, 0]);
    for (const serverName of ["postgres", "kafka", "redis"]) {
      const pod = getPodSpec(
        findManifest(manifests, "StatefulSet", `${releaseFullName}-${serverName}`),
      );
      const volumes = new Set(pod?.volumes.map(({ name }) => name));
      const mounts = pod?.containers.flatMap(({ volumeMounts }) => volumeMounts) ?? [];
      expect(mounts.filter(({ name }) => !volumes.has(name))).toEqual([]);
    }
  });

  test("adds nothing to other topologies", async () => {
    const production = await renderText("production");
    expect(production).not.toMatch(/quickstart|StatefulSet/);
  });
});
