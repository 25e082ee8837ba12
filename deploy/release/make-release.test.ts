import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { serviceBlocks } from "../chart/service-blocks.ts";
import type { Run } from "../images/build-image.ts";
import { type Release, makeRelease } from "./make-release.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const registry = "registry.example.com/shop";
const services = Object.values(serviceBlocks);
const sha256 = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");
const digestOf = (name: string): string => `sha256:${sha256(name)}`;

let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), "release-"));
});
afterEach(() => rmSync(out, { recursive: true }));

/** The programs as a machine has them: what they are asked is noted; tar stands for what `helm package` does. */
const openMachine = ({ lacks = "" }: { lacks?: string } = {}) => {
  const asked: string[] = [];
  const predicates: unknown[] = [];
  const after = (args: readonly string[], flag: string): string =>
    args[args.indexOf(flag) + 1] ?? "";
  const run: Run = (program, args) => {
    const line = [program, ...args].join(" ");
    if (program === lacks) throw new Error(`spawn ${program} ENOENT`);
    asked.push(line);
    if (line.includes("rev-parse")) return `${"0".repeat(40)}\n`;
    if (args.includes("--metadata-file")) {
      const told = { "containerimage.digest": digestOf(after(args, "--tag")) };
      writeFileSync(after(args, "--metadata-file"), JSON.stringify(told));
    }
    if (program === "docker" && args[0] === "run") return '{"bomFormat":"CycloneDX"}\n';
    if (program === "npm") {
      writeFileSync(join(after(args, "--pack-destination"), "payment-links-sdk-1.0.0.tgz"), "sdk");
      return "payment-links-sdk-1.0.0.tgz\n";
    }
    if (program === "helm") {
      const [, copy = ""] = args;
      const file = join(after(args, "--destination"), "payment-links-1.0.0.tgz");
      execFileSync("tar", ["czf", file, "-C", join(copy, ".."), "payment-links"]);
    }
    if (line.includes("helm push")) return `Pushed: ${registry}\nDigest: ${digestOf("chart")}\n`;
    if (line.includes("--predicate")) {
      predicates.push(JSON.parse(readFileSync(after(args, "--predicate"), "utf8")));
    }
    return "";
  };
  const release = (more: { home?: string; signWith?: string } = {}): Release =>
    makeRelease({
      root,
      registry,
      home: more.home,
      signWith: more.signWith,
      out,
      builder: "https://ci.example.com/builder",
      run,
      now: () => new Date("2026-11-22T10:00:00Z"),
    });
  return { asked, predicates, release };
};

/** A file of the chart that was packaged. */
const readPacked = (name: string): Record<string, unknown> => {
  const args = ["xzOf", join(out, "payment-links-1.0.0.tgz"), `payment-links/${name}`];
  return parse(execFileSync("tar", args, { encoding: "utf8" })) as Record<string, unknown>;
};

describe("a release", () => {
  test("is four images and a chart that names them by digest, and says where it comes from", () => {
    const home = "https://payment-links.example.com";
    const { images, chart } = openMachine().release({ home });
    expect(images).toEqual(
      services.map((service) => {
        const image = `${registry}/payment-links/${service}`;
        return { service, image, digest: digestOf(`${image}:1.0.0`) };
      }),
    );
    expect(chart).toEqual({ name: `${registry}/charts/payment-links`, digest: digestOf("chart") });
    const digests = Object.fromEntries(images.map(({ service, digest }) => [service, digest]));
    expect(readPacked("values.yaml")).toMatchObject({
      image: { registry },
      authKeys: { image: { digest: digests["auth-keys"] } },
      linksApi: { image: { digest: digests["links-api"] } },
      settlementListener: { image: { digest: digests["settlement-listener"] } },
      webhookDispatcher: { image: { digest: digests["webhook-dispatcher"] } },
    });
    expect(readPacked("Chart.yaml")).toMatchObject({ home, sources: [home], version: "1.0.0" });
    const { annotations } = readPacked("Chart.yaml") as { annotations: Record<string, string> };
    expect(parse(annotations["artifacthub.io/images"] ?? "")).toEqual(
      images.map(({ service, image, digest }) => ({ name: service, image: `${image}@${digest}` })),
    );
  });

  test("comes with what is in each image, how it came about, and the checksums of all", () => {
    const release = openMachine().release();
    expect(JSON.parse(readFileSync(join(out, "release.json"), "utf8"))).toEqual(release);
    const sums = readFileSync(join(out, "SHA256SUMS"), "utf8").trim().split("\n");
    expect(sums).toHaveLength(2 * services.length + 3);
    expect(sums.filter((line) => line.endsWith("  payment-links-sdk-1.0.0.tgz"))).toHaveLength(1);
    for (const line of sums) {
      const [sum = "", file = ""] = line.split("  ");
      expect([file, sha256(readFileSync(join(out, file)))]).toEqual([file, sum]);
    }
  });

  test("is signed by the key that is given: images, what is said of them, and the chart", () => {
    const { asked, predicates, release } = openMachine();
    expect(release({ signWith: "awskms:///alias/release" }).isSigned).toBe(true);
    const by = "--yes --key awskms:///alias/release";
    for (const service of services) {
      const name = `${registry}/payment-links/${service}`;
      const image = `${name}@${digestOf(`${name}:1.0.0`)}`;
      expect(asked).toContain(`cosign sign ${by} ${image}`);
      const attested = asked.filter((line) => line.startsWith(`cosign attest ${by}`));
      expect(attested.filter((line) => line.endsWith(image))).toHaveLength(2);
    }
    expect(asked).toContain(
      `cosign sign ${by} ${registry}/charts/payment-links@${digestOf("chart")}`,
    );
    expect(predicates).toHaveLength(2 * services.length);
    expect(predicates[1]).toMatchObject({ buildDefinition: {}, runDetails: {} });
  });

  test("is not begun where it is to be signed and nothing here signs", () => {
    const { asked, release } = openMachine({ lacks: "cosign" });
    expect(() => release({ signWith: "keyless" })).toThrow("cosign");
    expect(asked).toEqual([]);
    expect(existsSync(join(out, "release.json"))).toBe(false);
  });
});
