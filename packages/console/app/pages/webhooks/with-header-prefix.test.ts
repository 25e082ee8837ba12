import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { withHeaderPrefix } from "./with-header-prefix.ts";

const folder = join(import.meta.dirname, "samples");
const names = readdirSync(folder).filter((name) => name.startsWith("read"));

test.each(names)(
  "%s reads the headers under their configured prefix, and is else as tested",
  (name) => {
    const sample = readFileSync(join(folder, name), "utf8");
    expect(withHeaderPrefix(sample, "Service")).toBe(sample);
    const changed = withHeaderPrefix(sample, "Shop-X");
    expect(changed).not.toMatch(/service-(?:timestamp|signature)/i);
    for (const header of ["timestamp", "signature"]) {
      expect(changed.toLowerCase()).toContain(`"shop-x-${header}"`.replaceAll('"', ""));
    }
  },
);
