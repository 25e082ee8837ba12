import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { withHeaderPrefix } from "./with-header-prefix.ts";

const directory = join(import.meta.dirname, "samples");
const sampleNames = readdirSync(directory).filter((name) => name.startsWith("read"));

test.each(sampleNames)(
  "%s uses the configured header prefix and stays unchanged with the default prefix",
  (name) => {
    const sample = readFileSync(join(directory, name), "utf8");
    expect(withHeaderPrefix(sample, "Service")).toBe(sample);
    const rewrittenSample = withHeaderPrefix(sample, "Shop-X");
    expect(rewrittenSample).not.toMatch(/service-(?:timestamp|signature)/i);
    for (const header of ["timestamp", "signature"]) {
      expect(rewrittenSample.toLowerCase()).toContain(`"shop-x-${header}"`.replaceAll('"', ""));
    }
  },
);
