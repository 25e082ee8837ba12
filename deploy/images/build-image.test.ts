import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Run, UncommittedError, buildImage } from "./build-image.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tag = "registry.example.com:5000/payment-links/links-api:1.0.0";
const digest = `sha256:${"a".repeat(64)}`;
const sbom = '{"bomFormat":"CycloneDX"}\n';
const commit = "0123456789abcdef0123456789abcdef01234567";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

let out: string;
beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), "images-"));
});
afterEach(() => rmSync(out, { recursive: true }));

type Machine = { hasBuildx?: boolean; changed?: string; told?: string };

/** Git and Docker as a machine has them: what they are asked is noted, and nothing is built. */
const openMachine = ({ hasBuildx = false, changed = "", told = digest }: Machine) => {
  const asked: string[] = [];
  const fileOf = (args: readonly string[], flag: string): string =>
    args[args.indexOf(flag) + 1] ?? "";
  const run: Run = (program, args) => {
    const line = [program, ...args].join(" ");
    asked.push(line);
    if (line.includes("status --porcelain")) return changed;
    if (line.includes("rev-parse")) return `${commit}\n`;
    if (line === "docker buildx version" && !hasBuildx) throw new Error("unknown command: buildx");
    if (args.includes("--iidfile")) writeFileSync(fileOf(args, "--iidfile"), told);
    if (args.includes("--metadata-file")) {
      const metadata = JSON.stringify({ "containerimage.digest": told });
      writeFileSync(fileOf(args, "--metadata-file"), metadata);
    }
    if (line.includes("image inspect")) {
      return `elsewhere/links-api@sha256:${"b".repeat(64)}\n${tag.replace(":1.0.0", "")}@${told}\n`;
    }
    return line.startsWith("docker run") ? sbom : "";
  };
  const build = (isPushed: boolean): string => {
    const now = () => new Date("2026-11-22T10:00:00Z");
    const builder = "https://ci.example.com/builder";
    return buildImage({ root, service: "links-api", tag, isPushed, out, builder, run, now });
  };
  return { asked, build };
};

describe("an image", () => {
  test("has what is in it and how it came about beside it, and both name the same image", () => {
    expect(openMachine({}).build(false)).toBe(digest);
    expect(readFileSync(join(out, "links-api.cdx.json"), "utf8")).toBe(sbom);
    const statement = JSON.parse(readFileSync(join(out, "links-api.provenance.json"), "utf8"));
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ name: tag.replace(":1.0.0", ""), digest: { sha256: "a".repeat(64) } }],
      predicateType: "https://slsa.dev/provenance/v1",
      predicate: {
        buildDefinition: {
          externalParameters: { service: "links-api", dockerfile: "deploy/Dockerfile" },
          resolvedDependencies: [
            { name: "source", digest: { gitCommit: commit } },
            {
              name: "package-lock.json",
              digest: { sha256: sha256(readFileSync(join(root, "package-lock.json"), "utf8")) },
            },
            { name: expect.stringMatching(/^node:24/) },
          ],
        },
        runDetails: {
          builder: { id: "https://ci.example.com/builder" },
          metadata: { startedOn: "2026-11-22T10:00:00.000Z" },
          byproducts: [{ name: "links-api.cdx.json", digest: { sha256: sha256(sbom) } }],
        },
      },
    });
  });

  test("that is pushed with buildx carries BuildKit's own attestations", () => {
    const { asked, build } = openMachine({ hasBuildx: true });
    expect(build(true)).toBe(digest);
    const line = asked.find((known) => known.startsWith("docker buildx build"));
    expect(line).toContain(" --push --sbom=true --provenance=mode=max ");
    expect(asked.at(-1)).toContain(`payment-links/links-api@${digest} /app/sbom.cdx.json`);
  });

  test("that is pushed without buildx is known by the digest that its own registry gave it", () => {
    const { asked, build } = openMachine({});
    expect(build(true)).toBe(digest);
    expect(asked).toContain(`docker push ${tag}`);
  });

  test("is not built of what no commit has, nor told of without a digest", () => {
    const { asked, build } = openMachine({ changed: " M deploy/Dockerfile\n" });
    expect(() => build(false)).toThrow(UncommittedError);
    expect(asked.filter((line) => line.startsWith("docker"))).toEqual([]);
    expect(() => openMachine({ told: "none" }).build(false)).toThrow("no digest");
  });
});
