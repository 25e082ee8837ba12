// `npm run release -- --registry registry.example.com/shop [--home <url>] [--sign-with <key> | --sign-with keyless]`
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { RunProgram } from "../images/build-image.ts";
import { createRelease } from "./create-release.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

const runProgram: RunProgram = (program, args) =>
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
const { registry, home: homeUrl, "sign-with": signingKey, out: outputFolder, builder } = values;

if (registry === undefined) {
  console.error(
    "usage: npm run release -- --registry <registry> [--home <url>] [--sign-with <key> | --sign-with keyless] [--out <folder>] [--builder <uri>]",
  );
  process.exitCode = 1;
} else {
  const releaseOptions = {
    root,
    registry,
    homeUrl,
    signingKey,
    outputFolder,
    builder,
    runProgram,
    now: () => new Date(),
  };
  console.log(JSON.stringify(createRelease(releaseOptions)));
}
