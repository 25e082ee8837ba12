// `npm run release -- --registry registry.example.com/shop [--home <url>] [--sign-with <key> | --sign-with keyless]`
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Run } from "../images/build-image.ts";
import { makeRelease } from "./make-release.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

const run: Run = (program, args) =>
  execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

const { values } = parseArgs({
  options: {
    registry: { type: "string" },
    home: { type: "string" },
    "sign-with": { type: "string" },
    out: { type: "string", default: "dist/release" },
    builder: { type: "string", default: "urn:payment-links:builder:by-hand" },
  },
});
const { registry, home, "sign-with": signWith, out, builder } = values;

if (registry === undefined) {
  console.error(
    "usage: npm run release -- --registry <registry> [--home <url>] [--sign-with <key> | --sign-with keyless] [--out <folder>] [--builder <uri>]",
  );
  process.exitCode = 1;
} else {
  const order = { root, registry, home, signWith, out, builder, run, now: () => new Date() };
  console.log(JSON.stringify(makeRelease(order)));
}
