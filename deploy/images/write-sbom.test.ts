import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { type InstalledPackages, renderSbom } from "./write-sbom.ts";

const options = { service: "links-api", baseImage: "node:24-bookworm-slim", node: "24.21.0" };

const parseSbom = (installed: InstalledPackages) => JSON.parse(renderSbom(installed, options));

describe("renderSbom", () => {
  test("lists the image, its base, Node, and each package with its version, license and hash", () => {
    const sbom = parseSbom({
      packages: {
        "node_modules/@noble/hashes": {
          version: "1.8.0",
          license: "MIT",
          integrity: `sha512-${Buffer.from("abc").toString("base64")}`,
        },
        "node_modules/viem/node_modules/@noble/hashes": { version: "1.7.0" },
        "node_modules/@payment-links/bus": { link: true },
        "packages/bus": { name: "@payment-links/bus", version: "1.0.0" },
      },
    });
    expect(sbom).toEqual({
      bomFormat: "CycloneDX",
      specVersion: "1.5",
      version: 1,
      metadata: {
        component: { type: "container", name: "payment-links/links-api", "bom-ref": "image" },
      },
      components: [
        { type: "container", name: "node:24-bookworm-slim", "bom-ref": "base-image" },
        { type: "platform", name: "node", version: "24.21.0", purl: "pkg:generic/node@24.21.0" },
        {
          type: "library",
          "bom-ref": "node_modules/@noble/hashes",
          name: "@noble/hashes",
          version: "1.8.0",
          purl: "pkg:npm/%40noble/hashes@1.8.0",
          licenses: [{ expression: "MIT" }],
          hashes: [{ alg: "SHA-512", content: "616263" }],
        },
        {
          type: "library",
          "bom-ref": "node_modules/viem/node_modules/@noble/hashes",
          name: "@noble/hashes",
          version: "1.7.0",
          purl: "pkg:npm/%40noble/hashes@1.7.0",
        },
        {
          type: "library",
          "bom-ref": "packages/bus",
          name: "@payment-links/bus",
          version: "1.0.0",
        },
      ],
    });
  });

  test("includes everything that npm has installed here, and is deterministic", () => {
    const file = new URL("../../node_modules/.package-lock.json", import.meta.url);
    const installed = JSON.parse(readFileSync(fileURLToPath(file), "utf8")) as InstalledPackages;
    const { components } = parseSbom(installed);
    const refs = components.map((component: { "bom-ref"?: string }) => component["bom-ref"]);
    for (const path of ["node_modules/express", "node_modules/slonik", "node_modules/undici"]) {
      expect(refs).toContain(path);
    }
    expect(new Set(refs).size).toBe(components.length);
    expect(renderSbom(installed, options)).toBe(renderSbom(installed, options));
  });
});
