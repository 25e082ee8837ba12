import { createSecretKey } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import { beforeAll, expect, test } from "@jest/globals";
import { serviceFor } from "@payment-links/deploy/ingress";
import * as z from "zod";
import {
  type Manifest,
  containersOf,
  fullName,
  podOf,
  renderChart,
  renderText,
  serviceNames,
} from "./helm/render-chart.ts";
import { needing } from "./helm/tools.ts";
import { findTool } from "./rig/find-tool.ts";
import { runNginx } from "./rig/nginx.ts";

const AddressInfo = z.object({ port: z.int() });
const Drawn = z.object({ data: z.record(z.string(), z.string()) });
const Origin = z.object({ data: z.object({ "origin.conf": z.string() }) });
const Claims = z.object({
  spec: z.object({
    volumeClaimTemplates: z
      .array(z.object({ metadata: z.object({ name: z.string() }) }))
      .default([]),
  }),
});

const find = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};

needing("helm").describe("a quickstart", () => {
  let manifests: readonly Manifest[] = [];
  beforeAll(async () => {
    manifests = await renderChart("quickstart");
  });
  const drawn = () => {
    const { data } = Drawn.parse(find(manifests, "Secret", `${fullName}-quickstart`));
    return new Map(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  };

  test("brings Postgres, Kafka and Redis, where the services look for them", () => {
    for (const thing of ["postgres", "kafka", "redis"]) {
      find(manifests, "StatefulSet", `${fullName}-${thing}`);
      find(manifests, "Service", `${fullName}-${thing}`);
      find(manifests, "NetworkPolicy", `${fullName}-${thing}`);
    }
    const brokers = containersOf(manifests)
      .flatMap(({ env }) => env)
      .filter(({ name }) => name === "KAFKA_BROKERS");
    expect(new Set(brokers.map(({ value }) => value))).toEqual(new Set([`${fullName}-kafka:9092`]));
    const secrets = drawn();
    expect(secrets.get("redis-url")).toBe(`redis://${fullName}-redis:6379`);
    for (const [key, value] of secrets) {
      if (!key.endsWith("database-url")) continue;
      expect(new URL(value).host).toBe(`${fullName}-postgres:5432`);
    }
  });

  test("draws each secret that its pods name, and every one anew", async () => {
    const secrets = drawn();
    const named = containersOf(manifests)
      .flatMap(({ env }) => env)
      .map(({ valueFrom }) => valueFrom?.secretKeyRef)
      .filter((ref) => ref !== undefined && ref.optional !== true);
    expect(named.length).toBeGreaterThan(20);
    for (const ref of named) {
      expect(ref?.name).toBe(`${fullName}-quickstart`);
      expect(secrets.get(ref?.key ?? "")).toMatch(/./);
    }
    const [, sealing = ""] = secrets.get("webhook-secret-keys")?.split(/=(.*)/s) ?? [];
    expect(createSecretKey(sealing, "base64").symmetricKeySize).toBe(32);
    const password = new URL(secrets.get("migration-database-url") ?? "").password;
    expect(password).toBe(secrets.get("postgres-password"));
    manifests = await renderChart("quickstart");
    const again = drawn();
    const same = [...secrets].filter(([key, value]) => again.get(key) === value);
    expect(same.map(([key]) => key)).toEqual(["redis-url"]);
  });

  test("prepares the database beside it, not before it, and waits until it is there", async () => {
    const jobs = manifests.filter(({ kind }) => kind === "Job");
    expect(jobs.map(({ metadata }) => Object.keys(metadata.annotations))).toEqual([[]]);
    const waiting = containersOf(jobs).find(({ name }) => name === "wait-for-servers");
    // As long as the Job may take, for images are pulled meanwhile.
    const env = new Map(waiting?.env.map((one) => [one.name, one]));
    expect(env.get("WAIT_SECONDS")?.value).toBe("3600");
    expect(env.get("KAFKA_BROKERS")?.value).toBe(`${fullName}-kafka:9092`);
    const { name, key } = env.get("MIGRATION_DATABASE_URL")?.valueFrom?.secretKeyRef ?? {};
    expect([name, key]).toEqual([`${fullName}-quickstart`, "migration-database-url"]);
  });

  test("has one pod of each service, so that a small node bears it", () => {
    const replicas = manifests
      .filter(({ kind }) => kind === "Deployment")
      .map((one) => z.object({ spec: z.object({ replicas: z.int() }) }).parse(one).spec.replicas);
    expect(replicas).toEqual([1, 1, 1, 1, 1]);
    expect(manifests.filter(({ kind }) => kind === "PodDisruptionBudget")).toEqual([]);
  });

  test("leads every path of the one origin where an Ingress does", () => {
    const { data } = Origin.parse(find(manifests, "ConfigMap", `${fullName}-quickstart`));
    const locations = [
      ...data["origin.conf"].matchAll(/location (= )?(\S+) \{ proxy_pass http:\/\/(\S+):8080; \}/g),
    ];
    // As nginx chooses: the exact one, then the longest that the path begins with.
    const serviceBy = (path: string) =>
      (
        locations.find(([, exact, at]) => exact !== undefined && at === path) ??
        locations
          .filter(([, exact, at = ""]) => exact === undefined && path.startsWith(at))
          .toSorted(([, , a = ""], [, , b = ""]) => b.length - a.length)[0]
      )?.[3]?.replace(`${fullName}-`, "");
    const paths = locations.flatMap(([, , at = ""]) => [
      at,
      `${at}x`,
      `${at.replace(/\/$/, "")}/x`,
    ]);
    expect(paths.length).toBeGreaterThan(30);
    for (const path of paths) expect([path, serviceBy(path)]).toEqual([path, serviceFor(path)]);
  });

  needing("nginx").test(
    "a real nginx takes that configuration, and leads each path there",
    async () => {
      const { data } = Origin.parse(find(manifests, "ConfigMap", `${fullName}-quickstart`));
      const opened: Server[] = [];
      let config = data["origin.conf"];
      for (const service of serviceNames) {
        const server = createServer((req, res) => res.end(`${service} ${req.headers.host}`));
        opened.push(server);
        await once(server.listen(0, "127.0.0.1"), "listening");
        const { port } = AddressInfo.parse(server.address());
        config = config.replaceAll(`${fullName}-${service}:8080`, `127.0.0.1:${port}`);
      }
      const nginx = await runNginx(findTool("nginx") ?? "", ({ directory, port }) =>
        config
          .replace("listen 8080", `listen 127.0.0.1:${port}`)
          .replaceAll("/tmp/", `${directory}/`),
      );
      try {
        for (const path of [
          "/console/api/session",
          "/console/apix",
          "/checkout/images/a",
          "/settlement-notices/a",
          "/",
        ]) {
          const answer = await fetch(`http://127.0.0.1:${nginx.port}${path}`);
          expect([path, await answer.text()]).toEqual([
            path,
            `${serviceFor(path)} 127.0.0.1:${nginx.port}`,
          ]);
        }
      } finally {
        await nginx.close();
        for (const server of opened) server.close();
      }
    },
  );

  test("keeps on volumes what is worth it, only where they are asked for", async () => {
    const claimsOf = (thing: string) =>
      Claims.parse(find(manifests, "StatefulSet", `${fullName}-${thing}`)).spec
        .volumeClaimTemplates;
    expect(["postgres", "kafka", "redis"].map((thing) => claimsOf(thing).length)).toEqual([
      1, 1, 0,
    ]);
    manifests = await renderChart("quickstart", ["--set", "quickstart.storage="]);
    expect(["postgres", "kafka", "redis"].map((thing) => claimsOf(thing).length)).toEqual([
      0, 0, 0,
    ]);
    for (const thing of ["postgres", "kafka", "redis"]) {
      const pod = podOf(find(manifests, "StatefulSet", `${fullName}-${thing}`));
      const volumes = new Set(pod?.volumes.map(({ name }) => name));
      const mounts = pod?.containers.flatMap(({ volumeMounts }) => volumeMounts) ?? [];
      expect(mounts.filter(({ name }) => !volumes.has(name))).toEqual([]);
    }
  });

  test("makes test keys, and is of nobody else's concern: without it nothing of it is there", async () => {
    const modes = containersOf(manifests)
      .flatMap(({ env }) => env)
      .filter(({ name }) => name === "API_KEY_MODE");
    expect(modes.map(({ value }) => value)).toEqual(["test"]);
    const production = await renderText("production");
    expect(production).toContain("value: live");
    expect(production).not.toMatch(/quickstart|StatefulSet/);
  });
});
