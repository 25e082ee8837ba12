import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeProvenance } from "./write-provenance.ts";

/** Runs a program to its end and answers what it printed; throws if it failed. */
export type Run = (program: string, args: readonly string[]) => string;

type ImageOrder = {
  root: string;
  service: string;
  /** The image's whole name, registry and tag included. */
  tag: string;
  isPushed: boolean;
  /** Where the two files about the image are written. */
  out: string;
  builder: string;
  run: Run;
  now: () => Date;
};

/** The working tree has what no commit has, so no commit would tell what is in the image. */
export class UncommittedError extends Error {}

/**
 * Builds the image of one service and writes beside it what is in it (`<service>.cdx.json`, CycloneDX)
 * and how it came about (`<service>.provenance.json`, SLSA v1). Where buildx is there, a pushed image
 * has both of BuildKit's own as attestations too. Answers the digest. Throws UncommittedError.
 */
export const buildImage = (order: ImageOrder): string => {
  const { run, root, service, tag, out } = order;
  if (run("git", ["-C", root, "status", "--porcelain"]).trim() !== "") {
    throw new UncommittedError(
      "commit or put away what is changed: the image is built of a commit",
    );
  }
  const commit = run("git", ["-C", root, "rev-parse", "HEAD"]).trim();
  const startedAt = order.now();
  const digest = build(order);
  const finishedAt = order.now();
  const image = order.isPushed ? `${withoutTag(tag)}@${digest}` : tag;
  const read = ["run", "--rm", "--network", "none", "--entrypoint", "cat", image];
  const sbom = run("docker", [...read, "/app/sbom.cdx.json"]);
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  const provenance = writeProvenance({
    service,
    image: withoutTag(tag),
    digest,
    commit,
    baseImage: findBaseImage(readFileSync(join(root, "deploy/Dockerfile"), "utf8")),
    lockDigest: sha256(lock),
    sbomDigest: sha256(sbom),
    builder: order.builder,
    startedAt,
    finishedAt,
  });
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, `${service}.cdx.json`), sbom);
  writeFileSync(join(out, `${service}.provenance.json`), provenance);
  return digest;
};

const build = ({ run, root, service, tag, isPushed }: ImageOrder): string => {
  const notes = mkdtempSync(join(tmpdir(), "image-"));
  const file = join(notes, "told");
  const what = ["--build-arg", `SERVICE=${service}`, "--file", join(root, "deploy/Dockerfile")];
  const args = [...what, "--tag", tag];
  try {
    if (isPushed && hasBuildx(run)) {
      const attested = ["--push", "--sbom=true", "--provenance=mode=max", "--metadata-file", file];
      run("docker", ["buildx", "build", ...args, ...attested, root]);
      const told = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
      return readDigest(told["containerimage.digest"] ?? "");
    }
    run("docker", ["build", ...args, "--iidfile", file, root]);
    if (!isPushed) return readDigest(readFileSync(file, "utf8"));
    run("docker", ["push", tag]);
    const format = "{{range .RepoDigests}}{{println .}}{{end}}";
    const digests = run("docker", ["image", "inspect", "--format", format, tag]).split("\n");
    const own = digests.find((known) => known.startsWith(`${withoutTag(tag)}@`)) ?? "";
    return readDigest(own.slice(own.indexOf("@") + 1));
  } finally {
    rmSync(notes, { recursive: true, force: true });
  }
};

const hasBuildx = (run: Run): boolean => {
  try {
    run("docker", ["buildx", "version"]);
    return true;
  } catch {
    return false;
  }
};

const readDigest = (text: string): string => {
  const digest = text.trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`no digest of the image: ${digest}`);
  return digest;
};

/** A registry's port is no tag. */
const withoutTag = (tag: string): string => tag.replace(/:[^:/]+$/, "");

const findBaseImage = (dockerfile: string): string =>
  /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1] ?? "";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
