// `npm run image -- links-api --tag registry.example.com/payment-links/links-api:1.0.0 --push`.
// `npm run image -- pin` fetches the current digest of each third-party image and writes it into our files.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type RunProgram, buildImage } from "./build-image.ts";
import { pinImages } from "./pin-images.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

const runProgram: RunProgram = (program, args) =>
  execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tag: { type: "string" },
    push: { type: "boolean", default: false },
    out: { type: "string", default: "dist/images" },
    builder: { type: "string", default: "urn:payment-links:builder:by-hand" },
  },
});
const [command] = positionals;

if (command === "pin") {
  console.log(JSON.stringify(pinImages(root, runProgram)));
} else if (command === undefined || values.tag === undefined) {
  console.error("usage: npm run image -- <service> --tag <name> [--push] [--out <folder>] | pin");
  process.exitCode = 1;
} else {
  const { tag, push: shouldPush, out: outputFolder, builder } = values;
  const buildOptions = {
    root,
    service: command,
    tag,
    shouldPush,
    outputFolder,
    builder,
    runProgram,
    now: () => new Date(),
  };
  console.log(
    JSON.stringify({ image: tag, digest: buildImage(buildOptions), files: outputFolder }),
  );
}
