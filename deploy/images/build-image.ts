import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderProvenance } from "./write-provenance.ts";

/** Runs a program until it exits and returns its output; throws if it fails. */
export type RunProgram = (program: string, args: readonly string[]) => string;

type ImageBuildOptions = {
  root: string;
  service: string;
  /** The image's full name, including registry and tag. */
  tag: string;
  shouldPush: boolean;
  /** The folder for the image's SBOM and provenance files. */
  outputFolder: string;
  builder: string;
  runProgram: RunProgram;
  now: () => Date;
};

/**
 * Thrown if the working tree has uncommitted changes, because no commit would identify the image's
 * content.
 */
export class UncommittedError extends Error {}

/**
 * Builds the image of one service and returns its digest. Writes the SBOM to `<service>.cdx.json`
 * (CycloneDX) and the provenance to `<service>.provenance.json` (SLSA v1). If buildx is available,
 * a pushed image also has both as BuildKit attestations. Throws `UncommittedError`.
 */
export const buildImage = (options: ImageBuildOptions): string => {
  const { runProgram, root, service, tag, outputFolder } = options;
  if (runProgram("git", ["-C", root, "status", "--porcelain"]).trim() !== "") {
    throw new UncommittedError(
      "the working tree has changes: commit or stash them, because an image is built from a commit",
    );
  }
  const commit = runProgram("git", ["-C", root, "rev-parse", "HEAD"]).trim();
  const startedAt = options.now();
  const digest = runBuild(options);
  const finishedAt = options.now();
  const image = options.shouldPush ? `${withoutTag(tag)}@${digest}` : tag;
  const readFileArgs = ["run", "--rm", "--network", "none", "--entrypoint", "cat", image];
  const sbom = runProgram("docker", [...readFileArgs, "/app/sbom.cdx.json"]);
  const lockfile = readFileSync(join(root, "package-lock.json"), "utf8");
  const provenance = renderProvenance({
    service,
    image: withoutTag(tag),
    digest,
    commit,
    baseImage: findBaseImage(readFileSync(join(root, "deploy/Dockerfile"), "utf8")),
    lockDigest: sha256(lockfile),
    sbomDigest: sha256(sbom),
    builder: options.builder,
    startedAt,
    finishedAt,
  });
  mkdirSync(outputFolder, { recursive: true });
  writeFileSync(join(outputFolder, `${service}.cdx.json`), sbom);
  writeFileSync(join(outputFolder, `${service}.provenance.json`), provenance);
  return digest;
};

const runBuild = ({ runProgram, root, service, tag, shouldPush }: ImageBuildOptions): string => {
  const metadataFolder = mkdtempSync(join(tmpdir(), "image-"));
  const metadataFile = join(metadataFolder, "metadata");
  const buildArgs = [
    "--build-arg",
    `SERVICE=${service}`,
    "--file",
    join(root, "deploy/Dockerfile"),
  ];
  const args = [...buildArgs, "--tag", tag];
  try {
    if (shouldPush && hasBuildx(runProgram)) {
      const attestationArgs = [
        "--push",
        "--sbom=true",
        "--provenance=mode=max",
        "--metadata-file",
        metadataFile,
      ];
      runProgram("docker", ["buildx", "build", ...args, ...attestationArgs, root]);
      const metadata = JSON.parse(readFileSync(metadataFile, "utf8")) as Record<string, string>;
      return parseDigest(metadata["containerimage.digest"] ?? "");
    }
    runProgram("docker", ["build", ...args, "--iidfile", metadataFile, root]);
    if (!shouldPush) return parseDigest(readFileSync(metadataFile, "utf8"));
    runProgram("docker", ["push", tag]);
    const format = "{{range .RepoDigests}}{{println .}}{{end}}";
    const digests = runProgram("docker", ["image", "inspect", "--format", format, tag]).split("\n");
    const repoDigest =
      digests.find((candidate) => candidate.startsWith(`${withoutTag(tag)}@`)) ?? "";
    return parseDigest(repoDigest.slice(repoDigest.indexOf("@") + 1));
  } finally {
    rmSync(metadataFolder, { recursive: true, force: true });
  }
};

const hasBuildx = (runProgram: RunProgram): boolean => {
  try {
    runProgram("docker", ["buildx", "version"]);
    return true;
  } catch {
    return false;
  }
};

const parseDigest = (text: string): string => {
  const digest = text.trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`no digest for the image: ${digest}`);
  return digest;
};

/** Removes the tag from an image name, but not the registry's port. */
const withoutTag = (tag: string): string => tag.replace(/:[^:/]+$/, "");

const findBaseImage = (dockerfile: string): string =>
  /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? "";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
