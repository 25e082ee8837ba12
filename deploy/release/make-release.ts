import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Document, parseDocument } from "yaml";
import { serviceBlocks } from "../chart/service-blocks.ts";
import { type Run, buildImage } from "../images/build-image.ts";

type ReleaseOrder = {
  root: string;
  /** Where images and chart are pushed, with a path if it has one: `registry.example.com/shop`. */
  registry: string;
  /** Where people read about it; the packaged chart names it as `home` and in `sources`. */
  home: string | undefined;
  /** The key with which cosign signs, as its `--key` takes it; `keyless` for an identity of the CI's own. */
  signWith: string | undefined;
  out: string;
  builder: string;
  run: Run;
  now: () => Date;
};

/** What was released: each artefact by its name and digest. */
export type Release = {
  version: string;
  images: readonly { service: string; image: string; digest: string }[];
  chart: { name: string; digest: string };
  /** The file that an integrator installs. */
  sdk: string;
  isSigned: boolean;
};

/**
 * Packs the SDK, builds and pushes the four images, packages the chart with their digests, pushes it as an
 * OCI artefact, and signs all five if a key is given: each image also with what is in it (CycloneDX) and
 * how it came about (SLSA v1). Writes these files, the SDK, the chart and `release.json` with their
 * checksums. Throws before anything is pushed where cosign is asked for and is not there.
 */
export const makeRelease = (order: ReleaseOrder): Release => {
  const { root, registry, run, out, signWith } = order;
  if (signWith !== undefined) run("cosign", ["version"]);
  const chart = join(root, "helm/payment-links");
  const about = readYaml(join(chart, "Chart.yaml"));
  const version = String(about.get("version"));
  mkdirSync(out, { recursive: true });
  const sdk = packSdk(order);
  const images = Object.values(serviceBlocks).map((service) => {
    const name = `${registry}/payment-links/${service}`;
    const tag = `${name}:${String(about.get("appVersion"))}`;
    const digest = buildImage({ ...order, service, tag, isPushed: true });
    if (signWith !== undefined) signImage(order, { service, image: `${name}@${digest}` });
    return { service, image: name, digest };
  });
  const packed = packChart(order, { chart, version, images });
  const charts = `${registry}/charts`;
  // Helm tells on stderr what it has pushed.
  const push = ["-c", 'exec helm push "$0" "$1" 2>&1', packed, `oci://${charts}`];
  const digest = digestOf(run("sh", push));
  const name = `${charts}/payment-links`;
  if (signWith !== undefined) run("cosign", ["sign", ...keyOf(signWith), `${name}@${digest}`]);
  const release: Release = {
    version,
    images,
    chart: { name, digest },
    sdk,
    isSigned: signWith !== undefined,
  };
  writeFileSync(join(out, "release.json"), `${JSON.stringify(release, null, 2)}\n`);
  const files = [...images.flatMap(({ service }) => filesOf(service)), fileOf(version), sdk];
  const sums = [...files, "release.json"].map(
    (file) => `${sha256(readFileSync(join(out, file)))}  ${file}\n`,
  );
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
  return release;
};

/** Builds what an integrator installs; answers its file's name. */
const packSdk = ({ root, out, run }: ReleaseOrder): string => {
  const what = ["--workspace=packages/sdk", "--pack-destination", resolve(out)];
  return run("npm", ["--prefix", root, "pack", "--silent", ...what]).trim();
};

const signImage = (
  { out, run, signWith = "" }: ReleaseOrder,
  { service, image }: { service: string; image: string },
): void => {
  const [sbom, provenance] = filesOf(service).map((file) => join(out, file));
  const statement = JSON.parse(readFileSync(provenance ?? "", "utf8")) as { predicate: object };
  const folder = mkdtempSync(join(tmpdir(), "predicate-"));
  try {
    // cosign makes the statement around it.
    const predicate = join(folder, "predicate.json");
    writeFileSync(predicate, JSON.stringify(statement.predicate));
    const attest = ["attest", ...keyOf(signWith)];
    run("cosign", ["sign", ...keyOf(signWith), image]);
    run("cosign", [...attest, "--type", "cyclonedx", "--predicate", sbom ?? "", image]);
    run("cosign", [...attest, "--type", "slsaprovenance1", "--predicate", predicate, image]);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Packages a copy of the chart that names the images by digest, and where it comes from. */
const packChart = (
  { registry, home, out, run }: ReleaseOrder,
  { chart, version, images }: { chart: string; version: string; images: Release["images"] },
): string => {
  const folder = mkdtempSync(join(tmpdir(), "chart-"));
  try {
    const copy = join(folder, "payment-links");
    cpSync(chart, copy, { recursive: true });
    changeYaml(join(copy, "values.yaml"), (values) => {
      values.setIn(["image", "registry"], registry);
      for (const [block, service] of Object.entries(serviceBlocks)) {
        const digest = images.find((one) => one.service === service)?.digest;
        values.setIn([block, "image", "digest"], digest);
      }
    });
    changeYaml(join(copy, "Chart.yaml"), (about) => {
      if (home !== undefined) {
        about.set("home", home);
        about.set("sources", [home]);
      }
      const listed = images.map(({ service, image, digest }) => ({
        name: service,
        image: `${image}@${digest}`,
      }));
      about.setIn(["annotations", "artifacthub.io/images"], JSON.stringify(listed));
    });
    run("helm", ["package", copy, "--destination", out]);
    return join(out, fileOf(version));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const readYaml = (path: string): Document => parseDocument(readFileSync(path, "utf8"));

const changeYaml = (path: string, change: (document: Document) => void): void => {
  const document = readYaml(path);
  change(document);
  writeFileSync(path, document.toString({ lineWidth: 0 }));
};

const filesOf = (service: string): readonly string[] => [
  `${service}.cdx.json`,
  `${service}.provenance.json`,
];

const fileOf = (version: string): string => `payment-links-${version}.tgz`;

/** Without a question at the terminal, as a CI has nobody who answers. */
const keyOf = (signWith: string): readonly string[] =>
  signWith === "keyless" ? ["--yes"] : ["--yes", "--key", signWith];

const digestOf = (said: string): string => {
  const digest = /^Digest:\s*(sha256:[0-9a-f]{64})\s*$/m.exec(said)?.[1];
  if (digest === undefined) throw new Error(`helm push told no digest: ${said}`);
  return digest;
};

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
