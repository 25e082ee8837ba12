// `npm run screenshots`: takes the README's pictures of the running product, and writes them with the
// digest of what they show. Fails, and writes nothing, where one cannot be taken.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ensureConsoleBuilt } from "@payment-links/console/ensure-built";
import { bringChromium } from "../rig/bring-chromium.ts";
import { projectRoot } from "../rig/child.ts";
import { openShop } from "./open-shop.ts";
import {
  digestFile,
  digestPictured,
  pathOfPicture,
  pictureBytesMax,
  pictures,
} from "./pictures.ts";
import { takePictures } from "./take-pictures.ts";

const report = (line: string) => process.stderr.write(`${line}\n`);

const program = await bringChromium();
if (program === undefined) throw new Error("there is no chromium-headless-shell and no chromium");
// What changes while the pictures are taken may not be in them.
const digest = digestPictured();
await ensureConsoleBuilt({ env: process.env, report });
report("a shop opens, and three weeks pass");
const shop = await openShop();
const taken = await takePictures(program, shop).finally(() => shop.close());
for (const picture of pictures) {
  const { length } = taken[picture];
  if (length > pictureBytesMax) throw new Error(`${picture} has ${length} bytes`);
}
await mkdir(dirname(digestFile), { recursive: true });
for (const picture of pictures) {
  await writeFile(join(projectRoot, pathOfPicture(picture)), taken[picture]);
  report(`${pathOfPicture(picture)}: ${taken[picture].length} bytes`);
}
await writeFile(digestFile, digest);
