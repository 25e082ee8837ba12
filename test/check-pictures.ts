// Fails if the README's pictures were taken from other sources than these.
import { readFileSync } from "node:fs";
import { computeSourcesDigest, digestFile } from "./screenshots/pictures.ts";

if (readFileSync(digestFile, "utf8") !== computeSourcesDigest()) {
  process.stderr.write("The pictures are outdated: run `npm run screenshots`\n");
  process.exitCode = 1;
}
