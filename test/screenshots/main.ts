// `npm run screenshots`: takes the README's pictures of the running product, and writes them with
// the digest of their sources. If a picture cannot be taken, it fails without writing files.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ensureConsoleBuilt } from "@payment-links/console/ensure-built";
import { launchChromium } from "../rig/chromium.ts";
import { ensureChromium } from "../rig/ensure-chromium.ts";
import { projectRoot } from "../rig/child.ts";
import { createShop } from "./create-shop.ts";
import {
  digestFile,
  computeSourcesDigest,
  getPicturePath,
  pictureBytesMax,
  pictures,
  totalBytesMax,
} from "./pictures.ts";
import { takePictures } from "./take-pictures.ts";
import { takeStrips } from "./take-strips.ts";

const report = (line: string) => process.stderr.write(`${line}\n`);

const chromiumPath = await ensureChromium();
if (chromiumPath === undefined) throw new Error("chromium-headless-shell or chromium is required");
// Computes the digest first, so that it does not include changes that are made while the pictures
// are taken.
const digest = computeSourcesDigest();
await ensureConsoleBuilt({ env: process.env, report });
const chromium = await launchChromium(chromiumPath);
report("creating a shop with three weeks of payments");
const shop = await createShop().catch(async (error: unknown) => {
  await chromium.close();
  throw error;
});

/** Takes all pictures. Returns each with its path. */
const takeAll = async (): Promise<[string, Buffer][]> => {
  const screenshots = await takePictures(chromium, shop);
  report("taking the pictures of the stories");
  const strips = await takeStrips(chromium, shop);
  return [
    ...pictures.map((name): [string, Buffer] => [getPicturePath(name), screenshots[name]]),
    ...strips,
  ];
};

const files = await takeAll().finally(() => Promise.all([chromium.close(), shop.close()]));
for (const [path, { length: byteCount }] of files) {
  report(`${path}: ${byteCount} bytes`);
  if (byteCount > pictureBytesMax) throw new Error(`${path} has ${byteCount} bytes`);
}
const totalBytes = files.reduce((sum, [, { length }]) => sum + length, 0);
report(`${files.length} pictures: ${totalBytes} bytes`);
if (totalBytes > totalBytesMax) throw new Error(`the pictures have ${totalBytes} bytes`);
await mkdir(dirname(digestFile), { recursive: true });
for (const [path, bytes] of files) await writeFile(join(projectRoot, path), bytes);
await writeFile(digestFile, digest);
