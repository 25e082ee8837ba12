// The Dockerfile runs this script in each image after it has installed the packages: node
// deploy/images/write-sbom.ts <service> <base image>
import { readFileSync } from "node:fs";

type InstalledPackage = {
  name?: string;
  version?: string;
  license?: string;
  integrity?: string;
  link?: boolean;
};

/** npm's record of all installed packages, in `node_modules/.package-lock.json`. */
export type InstalledPackages = { packages: Readonly<Record<string, InstalledPackage>> };

type SbomOptions = { service: string; baseImage: string; node: string };

/**
 * Renders the SBOM of an image in CycloneDX format: the third-party packages with their hashes, our
 * own packages, Node and the base image. The output is deterministic.
 */
export const renderSbom = (
  { packages }: InstalledPackages,
  { service, baseImage, node }: SbomOptions,
): string => {
  const installed = Object.entries(packages).filter(([, { link }]) => link !== true);
  const root = { type: "container", name: `payment-links/${service}`, "bom-ref": "image" };
  const sbom = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: root },
    components: [
      { type: "container", name: baseImage, "bom-ref": "base-image" },
      { type: "platform", name: "node", version: node, purl: `pkg:generic/node@${node}` },
      ...installed.map(([path, packageInfo]) => describePackage(path, packageInfo)),
    ],
  };
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
};

const describePackage = (path: string, { name, version, license, integrity }: InstalledPackage) => {
  const isWorkspacePackage = !path.includes("node_modules/");
  const packageName = name ?? path.replace(/^.*node_modules\//, "");
  const purl = `pkg:npm/${packageName.replace("@", "%40")}@${version}`;
  return {
    type: "library",
    "bom-ref": path,
    name: packageName,
    version,
    ...(isWorkspacePackage ? {} : { purl }),
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(integrity === undefined ? {} : { hashes: [parseIntegrity(integrity)] }),
  };
};

/** Parses an integrity value from a lockfile, such as `sha512-<base64>`. */
const parseIntegrity = (integrity: string) => {
  const [algorithm = "", base64 = ""] = integrity.split("-");
  return {
    alg: algorithm.toUpperCase().replace("SHA", "SHA-"),
    content: Buffer.from(base64, "base64").toString("hex"),
  };
};

if (import.meta.main) {
  const [, , service = "", baseImage = ""] = process.argv;
  const text = readFileSync("node_modules/.package-lock.json", "utf8");
  const installed = JSON.parse(text) as InstalledPackages;
  process.stdout.write(renderSbom(installed, { service, baseImage, node: process.versions.node }));
}
