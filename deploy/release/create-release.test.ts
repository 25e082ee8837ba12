import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { serviceBlocks } from "../chart/service-blocks.ts";
import type { RunProgram } from "../images/build-image.ts";
import { type Release, createRelease } from "./create-release.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const registry = "registry.example.com/shop";
const services = Object.values(serviceBlocks);
const pythonFiles = ["payment_links_sdk-1.0.0-py3-none-any.whl", "payment_links_sdk-1.0.0.tar.gz"];
const sha256 = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");
const createDigest = (name: string): string => `sha256:${sha256(name)}`;

let outputFolder: string;
beforeEach(() => {
  outputFolder = mkdtempSync(join(tmpdir(), "release-"));
});
afterEach(() => rmSync(outputFolder, { recursive: true }));

/**
 * Creates fakes of the required programs that record their commands. The fake of `helm package`
 * uses tar.
 */
const createFakeMachine = ({ missingProgram = "" }: { missingProgram?: string } = {}) => {
  const commandLines: string[] = [];
  const predicates: unknown[] = [];
  const getFlagValue = (args: readonly string[], flag: string): string =>
    args[args.indexOf(flag) + 1] ?? "";
  const runProgram: RunProgram = (program, args) => {
    const commandLine = [program, ...args].join(" ");
    if (program === missingProgram) throw new Error(`spawn ${program} ENOENT`);
    commandLines.push(commandLine);
    if (commandLine.includes("rev-parse")) return `${"0".repeat(40)}\n`;
    if (args.includes("--metadata-file")) {
      const metadata = { "containerimage.digest": createDigest(getFlagValue(args, "--tag")) };
      writeFileSync(getFlagValue(args, "--metadata-file"), JSON.stringify(metadata));
    }
    if (program === "docker" && args[0] === "run") return '{"bomFormat":"CycloneDX"}\n';
    if (program === "npm") {
      writeFileSync(
        join(getFlagValue(args, "--pack-destination"), "payment-links-sdk-1.0.0.tgz"),
        "sdk",
      );
      return "payment-links-sdk-1.0.0.tgz\n";
    }
    if (args.includes("build") && args.includes("--outdir")) {
      for (const file of pythonFiles)
        writeFileSync(join(getFlagValue(args, "--outdir"), file), "python");
    }
    if (program === "helm") {
      const [, chartCopy = ""] = args;
      const file = join(getFlagValue(args, "--destination"), "payment-links-1.0.0.tgz");
      execFileSync("tar", ["czf", file, "-C", join(chartCopy, ".."), "payment-links"]);
    }
    if (commandLine.includes("helm push"))
      return `Pushed: ${registry}\nDigest: ${createDigest("chart")}\n`;
    if (commandLine.includes("--predicate")) {
      predicates.push(JSON.parse(readFileSync(getFlagValue(args, "--predicate"), "utf8")));
    }
    return "";
  };
  const releaseOnMachine = (overrides: { home?: string; signWith?: string } = {}): Release =>
    createRelease({
      root,
      registry,
      homeUrl: overrides.home,
      signingKey: overrides.signWith,
      outputFolder,
      builder: "https://ci.example.com/builder",
      runProgram,
      now: () => new Date("2026-11-22T10:00:00Z"),
    });
  return { commandLines, predicates, releaseOnMachine };
};

/** Reads a file of the packaged chart. */
const readPackedYaml = (name: string): Record<string, unknown> => {
  const args = ["xzOf", join(outputFolder, "payment-links-1.0.0.tgz"), `payment-links/${name}`];
  return parse(execFileSync("tar", args, { encoding: "utf8" })) as Record<string, unknown>;
};

describe("a release", () => {
  test("has four images and a chart with their digests and the home page", () => {
    const home = "https://payment-links.example.com";
    const { images, chart } = createFakeMachine().releaseOnMachine({ home });
    expect(images).toEqual(
      services.map((service) => {
        const image = `${registry}/payment-links/${service}`;
        return { service, image, digest: createDigest(`${image}:1.0.0`) };
      }),
    );
    expect(chart).toEqual({
      name: `${registry}/charts/payment-links`,
      digest: createDigest("chart"),
    });
    const digests = Object.fromEntries(images.map(({ service, digest }) => [service, digest]));
    expect(readPackedYaml("values.yaml")).toMatchObject({
      image: { registry },
      authKeys: { image: { digest: digests["auth-keys"] } },
      linksApi: { image: { digest: digests["links-api"] } },
      settlementListener: { image: { digest: digests["settlement-listener"] } },
      webhookDispatcher: { image: { digest: digests["webhook-dispatcher"] } },
    });
    expect(readPackedYaml("Chart.yaml")).toMatchObject({ home, sources: [home], version: "1.0.0" });
    const { annotations } = readPackedYaml("Chart.yaml") as { annotations: Record<string, string> };
    expect(parse(annotations["artifacthub.io/images"] ?? "")).toEqual(
      images.map(({ service, image, digest }) => ({ name: service, image: `${image}@${digest}` })),
    );
  });

  test("includes SBOM and provenance of each image, and checksums of all files", () => {
    const createdRelease = createFakeMachine().releaseOnMachine();
    expect(JSON.parse(readFileSync(join(outputFolder, "release.json"), "utf8"))).toEqual(
      createdRelease,
    );
    const checksumLines = readFileSync(join(outputFolder, "SHA256SUMS"), "utf8").trim().split("\n");
    expect(checksumLines).toHaveLength(2 * services.length + 5);
    expect(
      checksumLines.filter((commandLine) => commandLine.endsWith("  payment-links-sdk-1.0.0.tgz")),
    ).toHaveLength(1);
    for (const commandLine of checksumLines) {
      const [checksum = "", file = ""] = commandLine.split("  ");
      expect([file, sha256(readFileSync(join(outputFolder, file)))]).toEqual([file, checksum]);
    }
  });

  test("packs and checks the integrators' packages before it pushes anything", () => {
    const { commandLines, releaseOnMachine } = createFakeMachine();
    expect(releaseOnMachine().packages).toEqual(["payment-links-sdk-1.0.0.tgz", ...pythonFiles]);
    expect(commandLines[0]).toContain("pack --silent --workspace=packages/sdk");
    expect(commandLines[1]).toMatch(/\/publint .*payment-links-sdk-1\.0\.0\.tgz --strict$/);
    expect(commandLines[3]).toContain("-m pip install --quiet --require-hashes");
    expect(commandLines[4]).toContain("-m build --no-isolation");
    expect(commandLines[5]).toMatch(/-m twine check --strict \S+\.whl \S+\.tar\.gz$/);
    expect(commandLines.findIndex((commandLine) => commandLine.includes("--push"))).toBeGreaterThan(
      5,
    );
  });

  test("signs images, attestations and chart with the given key", () => {
    const { commandLines, predicates, releaseOnMachine } = createFakeMachine();
    expect(releaseOnMachine({ signWith: "awskms:///alias/release" }).isSigned).toBe(true);
    const signingArgs = "--yes --key awskms:///alias/release";
    for (const service of services) {
      const name = `${registry}/payment-links/${service}`;
      const image = `${name}@${createDigest(`${name}:1.0.0`)}`;
      expect(commandLines).toContain(`cosign sign ${signingArgs} ${image}`);
      const attestCommands = commandLines.filter((commandLine) =>
        commandLine.startsWith(`cosign attest ${signingArgs}`),
      );
      expect(attestCommands.filter((commandLine) => commandLine.endsWith(image))).toHaveLength(2);
    }
    expect(commandLines).toContain(
      `cosign sign ${signingArgs} ${registry}/charts/payment-links@${createDigest("chart")}`,
    );
    expect(predicates).toHaveLength(2 * services.length);
    expect(predicates[1]).toMatchObject({ buildDefinition: {}, runDetails: {} });
  });

  test("does not start if it must be signed but cosign is missing", () => {
    const { commandLines, releaseOnMachine } = createFakeMachine({ missingProgram: "cosign" });
    expect(() => releaseOnMachine({ signWith: "keyless" })).toThrow("cosign");
    expect(commandLines).toEqual([]);
    expect(existsSync(join(outputFolder, "release.json"))).toBe(false);
  });
});
