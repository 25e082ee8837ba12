import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Document, parseDocument } from "yaml";
import { serviceBlocks } from "../chart/service-blocks.ts";
import { type RunProgram, buildImage } from "../images/build-image.ts";
import { packPythonSdk } from "./pack-python-sdk.ts";

type ReleaseOptions = {
  root: string;
  /** The registry for images and chart, optionally with a path: `registry.example.com/shop`. */
  registry: string;
  /** The home page of the product, for the fields `home` and `sources` of the packaged chart. */
  homeUrl: string | undefined;
  /** The key for cosign's `--key` option, or `keyless` to sign with the CI's identity. */
  signingKey: string | undefined;
  outputFolder: string;
  builder: string;
  runProgram: RunProgram;
  now: () => Date;
};

/** The artifacts of a release with their names and digests. */
export type Release = {
  version: string;
  images: readonly { service: string; image: string; digest: string }[];
  chart: { name: string; digest: string };
  /** The files of the packages that integrators install. */
  packages: readonly string[];
  isSigned: boolean;
};

/**
 * Packs the packages of integrators, builds and pushes the four images, packages the chart with
 * their digests, and pushes it as an OCI artifact. With a key, also signs the images and the chart,
 * and attests the SBOM (CycloneDX) and provenance (SLSA v1) of each image. Writes these files, the
 * packages, the chart, `release.json` and checksums to the output folder. If a key is given but
 * cosign is missing, throws before it pushes anything.
 */
export const createRelease = (options: ReleaseOptions): Release => {
  const { root, registry, runProgram, outputFolder, signingKey } = options;
  if (signingKey !== undefined) runProgram("cosign", ["version"]);
  const chart = join(root, "helm/payment-links");
  const chartMetadata = readYaml(join(chart, "Chart.yaml"));
  const version = String(chartMetadata.get("version"));
  mkdirSync(outputFolder, { recursive: true });
  const packageFiles = integratorPackages.flatMap((pack) => pack(options));
  const images = Object.values(serviceBlocks).map((service) => {
    const name = `${registry}/payment-links/${service}`;
    const tag = `${name}:${String(chartMetadata.get("appVersion"))}`;
    const digest = buildImage({ ...options, service, tag, shouldPush: true });
    if (signingKey !== undefined) signImage(options, { service, image: `${name}@${digest}` });
    return { service, image: name, digest };
  });
  const chartArchive = packChart(options, { chart, version, images });
  const chartRepository = `${registry}/charts`;
  // Helm prints the pushed digest on stderr.
  const pushArgs = [
    "-c",
    'exec helm push "$0" "$1" 2>&1',
    chartArchive,
    `oci://${chartRepository}`,
  ];
  const digest = parsePushedDigest(runProgram("sh", pushArgs));
  const name = `${chartRepository}/payment-links`;
  if (signingKey !== undefined)
    runProgram("cosign", ["sign", ...getSigningArgs(signingKey), `${name}@${digest}`]);
  const release: Release = {
    version,
    images,
    chart: { name, digest },
    packages: packageFiles,
    isSigned: signingKey !== undefined,
  };
  writeFileSync(join(outputFolder, "release.json"), `${JSON.stringify(release, null, 2)}\n`);
  const files = [
    ...images.flatMap(({ service }) => listImageFiles(service)),
    getChartFileName(version),
    ...packageFiles,
  ];
  const checksumLines = [...files, "release.json"].map(
    (file) => `${sha256(readFileSync(join(outputFolder, file)))}  ${file}\n`,
  );
  writeFileSync(join(outputFolder, "SHA256SUMS"), checksumLines.join(""));
  return release;
};

/**
 * Packs the TypeScript SDK, checks the package with publint, and returns its file name. A package
 * that a bundler or Node cannot resolve ends the release.
 */
const packSdk = ({ root, outputFolder, runProgram }: ReleaseOptions): string[] => {
  const packArgs = ["--workspace=packages/sdk", "--pack-destination", resolve(outputFolder)];
  const file = runProgram("npm", ["--prefix", root, "pack", "--silent", ...packArgs]).trim();
  const publint = join(root, "node_modules/.bin/publint");
  runProgram(publint, [join(outputFolder, file), "--strict"]);
  return [file];
};

/** Each packs a package that integrators install, and returns its file names. */
const integratorPackages: readonly ((options: ReleaseOptions) => string[])[] = [
  packSdk,
  packPythonSdk,
];

const signImage = (
  { outputFolder, runProgram, signingKey = "" }: ReleaseOptions,
  { service, image }: { service: string; image: string },
): void => {
  const [sbom, provenance] = listImageFiles(service).map((file) => join(outputFolder, file));
  const statement = JSON.parse(readFileSync(provenance ?? "", "utf8")) as { predicate: object };
  const tempFolder = mkdtempSync(join(tmpdir(), "predicate-"));
  try {
    // cosign wraps the predicate in an in-toto statement itself.
    const predicate = join(tempFolder, "predicate.json");
    writeFileSync(predicate, JSON.stringify(statement.predicate));
    const attestArgs = ["attest", ...getSigningArgs(signingKey)];
    runProgram("cosign", ["sign", ...getSigningArgs(signingKey), image]);
    runProgram("cosign", [...attestArgs, "--type", "cyclonedx", "--predicate", sbom ?? "", image]);
    runProgram("cosign", [
      ...attestArgs,
      "--type",
      "slsaprovenance1",
      "--predicate",
      predicate,
      image,
    ]);
  } finally {
    rmSync(tempFolder, { recursive: true });
  }
};

/** Packages a copy of the chart that contains the images' digests and the home page. */
const packChart = (
  { registry, homeUrl, outputFolder, runProgram }: ReleaseOptions,
  { chart, version, images }: { chart: string; version: string; images: Release["images"] },
): string => {
  const tempFolder = mkdtempSync(join(tmpdir(), "chart-"));
  try {
    const chartCopy = join(tempFolder, "payment-links");
    cpSync(chart, chartCopy, { recursive: true });
    updateYaml(join(chartCopy, "values.yaml"), (values) => {
      values.setIn(["image", "registry"], registry);
      for (const [block, service] of Object.entries(serviceBlocks)) {
        const digest = images.find((candidate) => candidate.service === service)?.digest;
        values.setIn([block, "image", "digest"], digest);
      }
    });
    updateYaml(join(chartCopy, "Chart.yaml"), (chartMetadata) => {
      if (homeUrl !== undefined) {
        chartMetadata.set("home", homeUrl);
        chartMetadata.set("sources", [homeUrl]);
      }
      const imageEntries = images.map(({ service, image, digest }) => ({
        name: service,
        image: `${image}@${digest}`,
      }));
      chartMetadata.setIn(["annotations", "artifacthub.io/images"], JSON.stringify(imageEntries));
    });
    runProgram("helm", ["package", chartCopy, "--destination", outputFolder]);
    return join(outputFolder, getChartFileName(version));
  } finally {
    rmSync(tempFolder, { recursive: true });
  }
};

const readYaml = (path: string): Document => parseDocument(readFileSync(path, "utf8"));

const updateYaml = (path: string, update: (document: Document) => void): void => {
  const document = readYaml(path);
  update(document);
  writeFileSync(path, document.toString({ lineWidth: 0 }));
};

const listImageFiles = (service: string): readonly string[] => [
  `${service}.cdx.json`,
  `${service}.provenance.json`,
];

const getChartFileName = (version: string): string => `payment-links-${version}.tgz`;

/**
 * Returns cosign's signing options. `--yes` skips the confirmation prompt, which CI cannot answer.
 */
const getSigningArgs = (signingKey: string): readonly string[] =>
  signingKey === "keyless" ? ["--yes"] : ["--yes", "--key", signingKey];

const parsePushedDigest = (output: string): string => {
  const digest = /^Digest:\s*(sha256:[0-9a-f]{64})\s*$/m.exec(output)?.[1];
  if (digest === undefined) throw new Error(`helm push printed no digest: ${output}`);
  return digest;
};

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
