import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";

const picturesDirectory = ".github/pictures";

/** The names of the pictures that `main.ts` takes. */
export const pictures = ["checkout-phone", "checkout-computer", "overview", "webhook-log"] as const;
export type Picture = (typeof pictures)[number];

/** The maximum size of a picture. It is limited because the README is also read on phones. */
export const pictureBytesMax = 150_000;

export const getPicturePath = (picture: Picture): string => `${picturesDirectory}/${picture}.png`;

export const devices = ["phone", "computer"] as const;
export type Device = (typeof devices)[number];

export const colorSchemes = ["light", "dark"] as const;
export type ColorScheme = (typeof colorSchemes)[number];

/** The strips of the stories (`stories/`), and the devices on which they are taken. */
const devicesByStrip = {
  "first-link": devices,
  pay: devices,
  "pay-by-wallet": ["phone"],
  "pay-by-qr-code": ["phone"],
  "pay-by-exchange": ["phone"],
  paid: devices,
  attention: devices,
  "failing-endpoint": devices,
  keyboard: devices,
} as const;
export type Strip = keyof typeof devicesByStrip;

export type StripVariant = { strip: Strip; device: Device; colorScheme: ColorScheme };

/** Each strip on each of its devices and in each color scheme. */
export const stripVariants: readonly StripVariant[] = Object.entries(devicesByStrip).flatMap(
  ([strip, stripDevices]) =>
    stripDevices.flatMap((device) =>
      colorSchemes.map((colorScheme) => ({ strip: strip as Strip, device, colorScheme })),
    ),
);

export const getStripPath = ({ strip, device, colorScheme }: StripVariant): string =>
  `${picturesDirectory}/${strip}-${device}-${colorScheme}.webp`;

/** The maximum size of all pictures, because every clone contains them. */
export const totalBytesMax = 3 * 1024 * 1024;

/** Stores the digest of the sources from which the pictures were taken. */
export const digestFile = join(projectRoot, picturesDirectory, "sources.sha256");

/** The sources of the pages in the pictures, and the scripts that take the pictures. */
const sources = [
  "services/links-api/src/pages",
  "packages/chains/src/browser-wallets",
  "packages/console/app/ceremonies",
  "packages/console/app/frame",
  "packages/console/app/ui",
  "packages/console/app/pages/account",
  "packages/console/app/pages/links",
  "packages/console/app/pages/overview",
  "packages/console/app/pages/sign-in",
  "packages/console/app/pages/webhooks",
  "packages/console/app/base.css",
  "packages/design",
  "test/screenshots",
];

const listFiles = (path: string): string[] =>
  statSync(join(projectRoot, path)).isFile()
    ? [path]
    : readdirSync(join(projectRoot, path)).flatMap((name) => listFiles(`${path}/${name}`));

/** Returns a digest of the sources. It changes whenever the pictures could change. */
export const computeSourcesDigest = (): string => {
  const hash = createHash("sha256");
  const files = sources.flatMap(listFiles).filter((file) => !file.endsWith(".test.ts"));
  for (const file of files.toSorted()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(projectRoot, file)))
      .update("\0");
  }
  return `${hash.digest("hex")}\n`;
};
