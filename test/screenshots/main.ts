// `npm run screenshots`: takes the README's pictures of the running product, and writes them with
// the digest of their sources. If a picture cannot be taken, it fails without writing files.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ensureConsoleBuilt } from "@payment-links/console/ensure-built";
import { ensureChromium } from "../rig/ensure-chromium.ts";
import { projectRoot } from "../rig/child.ts";
import { createShop } from "./create-shop.ts";
import {
  digestFile,
  computeSourcesDigest,
  getPicturePath,
  pictureBytesMax,
  pictures,
} from "./pictures.ts";
import { takePictures } from "./take-pictures.ts";

const report = (line: string) => process.stderr.write(`${line}\n`);

const chromiumPath = await ensureChromium();
if (chromiumPath === undefined) throw new Error("chromium-headless-shell or chromium is required");
// Computes the digest first, so that it does not include changes that are made while the pictures
// are taken.
const digest = computeSourcesDigest();
await ensureConsoleBuilt({ env: process.env, report });
report("creating a shop with three weeks of payments");
const shop = await createShop();
const screenshots = await takePictures(chromiumPath, shop).finally(() => shop.close());
for (const picture of pictures) {
  const { length: byteCount } = screenshots[picture];
  if (byteCount > pictureBytesMax) throw new Error(`${picture} has ${byteCount} bytes`);
}
await mkdir(dirname(digestFile), { recursive: true });
for (const picture of pictures) {
  await writeFile(join(projectRoot, getPicturePath(picture)), screenshots[picture]);
  report(`${getPicturePath(picture)}: ${screenshots[picture].length} bytes`);
}
await writeFile(digestFile, digest);
