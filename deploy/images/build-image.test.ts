import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type RunProgram, UncommittedError, buildImage } from "./build-image.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tag = "registry.example.com:5000/payment-links/links-api:1.0.0";
const digest = `sha256:${"a".repeat(64)}`;
const sbom = '{"bomFormat":"CycloneDX"}\n';
const commit = "0123456789abcdef0123456789abcdef01234567";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

let outputFolder: string;
beforeEach(() => {
  outputFolder = mkdtempSync(join(tmpdir(), "images-"));
});
afterEach(() => rmSync(outputFolder, { recursive: true }));

type FakeMachineOptions = { hasBuildx?: boolean; gitStatus?: string; imageDigest?: string };

/** Creates fakes of git and Docker that record their commands and build nothing. */
const createFakeMachine = ({
  hasBuildx = false,
  gitStatus = "",
  imageDigest = digest,
}: FakeMachineOptions) => {
  const commandLines: string[] = [];
  const getFlagValue = (args: readonly string[], flag: string): string =>
    args[args.indexOf(flag) + 1] ?? "";
  const runProgram: RunProgram = (program, args) => {
    const commandLine = [program, ...args].join(" ");
    commandLines.push(commandLine);
    if (commandLine.includes("status --porcelain")) return gitStatus;
    if (commandLine.includes("rev-parse")) return `${commit}\n`;
    if (commandLine === "docker buildx version" && !hasBuildx)
      throw new Error("unknown command: buildx");
    if (args.includes("--iidfile")) writeFileSync(getFlagValue(args, "--iidfile"), imageDigest);
    if (args.includes("--metadata-file")) {
      const metadata = JSON.stringify({ "containerimage.digest": imageDigest });
      writeFileSync(getFlagValue(args, "--metadata-file"), metadata);
    }
    if (commandLine.includes("image inspect")) {
      return `elsewhere/links-api@sha256:${"b".repeat(64)}\n${tag.replace(":1.0.0", "")}@${imageDigest}\n`;
    }
    return commandLine.startsWith("docker run") ? sbom : "";
  };
  const buildTestImage = (shouldPush: boolean): string => {
    const now = () => new Date("2026-11-22T10:00:00Z");
    const builder = "https://ci.example.com/builder";
    return buildImage({
      root,
      service: "links-api",
      tag,
      shouldPush,
      outputFolder,
      builder,
      runProgram,
      now,
    });
  };
  return { commandLines, buildTestImage };
};

describe("an image", () => {
  test("comes with an SBOM and provenance that name the same image", () => {
    expect(createFakeMachine({}).buildTestImage(false)).toBe(digest);
    expect(readFileSync(join(outputFolder, "links-api.cdx.json"), "utf8")).toBe(sbom);
    const statement = JSON.parse(
      readFileSync(join(outputFolder, "links-api.provenance.json"), "utf8"),
    );
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

  test("pushed with buildx carries BuildKit's own attestations", () => {
    const { commandLines, buildTestImage } = createFakeMachine({ hasBuildx: true });
    expect(buildTestImage(true)).toBe(digest);
    const commandLine = commandLines.find((commandLine) =>
      commandLine.startsWith("docker buildx build"),
    );
    expect(commandLine).toContain(" --push --sbom=true --provenance=mode=max ");
    expect(commandLines.at(-1)).toContain(`payment-links/links-api@${digest} /app/sbom.cdx.json`);
  });

  test("pushed without buildx is identified by the digest from its own registry", () => {
    const { commandLines, buildTestImage } = createFakeMachine({});
    expect(buildTestImage(true)).toBe(digest);
    expect(commandLines).toContain(`docker push ${tag}`);
  });

  test("is not built from uncommitted changes, and fails without a digest", () => {
    const { commandLines, buildTestImage } = createFakeMachine({
      gitStatus: " M deploy/Dockerfile\n",
    });
    expect(() => buildTestImage(false)).toThrow(UncommittedError);
    expect(commandLines.filter((commandLine) => commandLine.startsWith("docker"))).toEqual([]);
    expect(() => createFakeMachine({ imageDigest: "none" }).buildTestImage(false)).toThrow(
      "no digest",
    );
  });
});
