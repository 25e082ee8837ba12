import type sharp from "sharp";

type Sharp = typeof sharp;

/** Why an image cannot become a picture. */
type PictureFault = "invalid" | "too_many_pixels";

/** Converts an image file to a picture. Throws only if this machine cannot decode images. */
export type EncodePicture = (file: Buffer) => Promise<Buffer | PictureFault>;

/** The width and height of every picture. */
const pictureSide = 256;
/** Enough for the photos of most phones. A decoder can need the memory of all pixels. */
const pixelsMax = 4096 * 3072;
/** The longest side of a WebP image. The other formats allow sides at which scaling is slow. */
const sideMax = 16_383;
/** A progressive JPEG has about ten. Each one takes time for all pixels, even if it is empty. */
const jpegScansMax = 100;
const decodeSecondsMax = 4;

const signatures = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"];

/** The decoders of the accepted formats. */
const decoders = [
  "VipsForeignLoadPngBuffer",
  "VipsForeignLoadJpegBuffer",
  "VipsForeignLoadNsgifBuffer",
  "VipsForeignLoadWebpBuffer",
];

/**
 * Creates the function that converts images to pictures: the square in the middle, scaled, upright,
 * in sRGB, without metadata. Only the first frame of an animation is used. Images are decoded one at
 * a time, outside of the event loop, so that they cannot exhaust memory and threads.
 */
export const createPictureEncoder = (): EncodePicture => {
  let loadedSharp: Promise<Sharp> | undefined;
  let previousPicture: Promise<unknown> = Promise.resolve();
  return (file) => {
    const picture = previousPicture.then(async () => {
      loadedSharp ??= loadSharp();
      return encodePicture(await loadedSharp, file);
    });
    previousPicture = picture.catch(() => {});
    return picture;
  };
};

/**
 * Loads sharp for the first image, because its native code needs memory and does not run on every
 * machine.
 */
const loadSharp = async (): Promise<Sharp> => {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  sharp.concurrency(1);
  // Whatever a file claims to be, no other decoder runs.
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: decoders });
  return sharp;
};

const hasAcceptedSignature = (text: string): boolean =>
  signatures.some((signature) => text.startsWith(signature)) ||
  (text.startsWith("RIFF") && text.startsWith("WEBP", 8));

const encodePicture = async (sharp: Sharp, file: Buffer): Promise<Buffer | PictureFault> => {
  const text = file.toString("latin1");
  if (!hasAcceptedSignature(text)) return "invalid";
  if (hasTooManyScans(text)) return "invalid";
  try {
    // Reads only the header.
    const { depth, height, width } = await sharp(file, { limitInputPixels: false }).metadata();
    // Pixels of 16 bits per channel need twice the memory.
    const pixelCount = width * height * (depth === "uchar" ? 1 : 2);
    if (pixelCount > pixelsMax || Math.max(width, height) > sideMax) return "too_many_pixels";
    return await sharp(file, { limitInputPixels: pixelsMax, failOn: "error" })
      .autoOrient()
      .resize(pictureSide, pictureSide)
      .webp({ quality: 85 })
      .timeout({ seconds: decodeSecondsMax })
      .toBuffer();
  } catch {
    return "invalid";
  }
};

/**
 * Returns whether a JPEG has too many scans. Compressed data does not contain their first bytes.
 * Stops counting above the maximum, because a file can have a million of them.
 */
const hasTooManyScans = (text: string): boolean =>
  text.startsWith("\xff\xd8") && text.split("\xff\xda", jpegScansMax + 2).length - 1 > jpegScansMax;
