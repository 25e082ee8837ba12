import { expect, describe, test } from "@jest/globals";
import sharp from "sharp";
import {
  buildCompressedChunk,
  buildJpegWithScans,
  buildPng,
  buildPngChunk,
  insertJpegSegment,
} from "../testing/image-files.ts";
import { createPictureEncoder } from "./encode-picture.ts";

const encode = createPictureEncoder();

const side = 120;
/** An image whose left half is red and whose right half is blue. */
const pixels = Buffer.from(
  Array.from({ length: side * 2 * side }, (_, index) =>
    index % (side * 2) < side ? [255, 0, 0] : [0, 0, 255],
  ).flat(),
);
const createImage = () => sharp(pixels, { raw: { width: side * 2, height: side, channels: 3 } });

const png = await createImage().png().toBuffer();
const jpeg = await createImage().jpeg().toBuffer();
const gif = await createImage().gif().toBuffer();
const webp = await createImage().webp().toBuffer();
const cmyk = await createImage().toColourspace("cmyk").jpeg().toBuffer();
const animation = await sharp(pixels, { raw: { width: side * 2, height: side, channels: 3 } })
  .extend({ bottom: side, background: "green" })
  .raw()
  .toBuffer()
  .then((frames) =>
    sharp(frames, { raw: { width: side * 2, height: side * 2, channels: 3, pageHeight: side } })
      .gif({ delay: [10, 10] })
      .toBuffer(),
  );

/** Decodes a picture to pixels. The encoder blocks the decoders of other formats only. */
const decode = async (picture: Awaited<ReturnType<typeof encode>>) => {
  if (typeof picture === "string") throw new Error(picture);
  const { format, height, width, ...metadata } = await sharp(picture).metadata();
  const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true });
  const getColor = (x: number, y: number): number[] => {
    const start = (y * width + x) * info.channels;
    return [...data.subarray(start, start + 3)];
  };
  return { format, height, width, metadata, getColor };
};

const isRed = ([red = 0, green = 0, blue = 0]: number[]) => red > 200 && green < 60 && blue < 60;
const isBlue = ([red = 0, green = 0, blue = 0]: number[]) => blue > 200 && green < 60 && red < 60;

describe("a picture", () => {
  test.each([
    ["PNG", png],
    ["JPEG", jpeg],
    ["GIF", gif],
    ["WebP", webp],
    ["the first frame of an animation", animation],
  ])("is the square in the middle of %s, as a WebP image (rule CALLER-46)", async (_name, file) => {
    const { format, getColor, height, width } = await decode(await encode(file));
    expect([format, width, height]).toEqual(["webp", 256, 256]);
    expect([isRed(getColor(20, 128)), isBlue(getColor(236, 128))]).toEqual([true, true]);
  });

  test("is upright and has no metadata such as a location (rule CALLER-46)", async () => {
    const rotated = await createImage()
      .withExif({
        IFD0: { Artist: "Alice" },
        IFD3: { GPSLatitudeRef: "N", GPSLatitude: "52/1 31/1 0/1" },
      })
      .withIccProfile("p3")
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    expect(rotated.includes("Alice")).toBe(true);
    const picture = await encode(rotated);
    const { getColor, metadata } = await decode(picture);
    expect([isRed(getColor(128, 20)), isBlue(getColor(128, 236))]).toEqual([true, true]);
    expect(metadata).not.toHaveProperty("exif");
    expect(metadata).not.toHaveProperty("icc");
    expect(metadata).not.toHaveProperty("xmp");
    // The only chunk is the image itself.
    expect(Buffer.from(picture as Buffer).toString("latin1", 8, 16)).toBe("WEBPVP8 ");
  });

  test("keeps transparent pixels", async () => {
    const { metadata } = await decode(await encode(buildPng(10, 10)));
    expect(metadata.hasAlpha).toBe(true);
  });

  test("can be made of one pixel or of a very long image", async () => {
    for (const file of [buildPng(1, 1), buildPng(1, 16_383), buildPng(16_383, 1)]) {
      expect((await decode(await encode(file))).width).toBe(256);
    }
  });
});

const changeByte = (file: Buffer, position: number): Buffer => {
  const changedFile = Buffer.from(file);
  changedFile[position] = (changedFile[position] ?? 0) ^ 0xff;
  return changedFile;
};

/** Writes another width and height into the header of a GIF's first frame. */
const resizeGifFrame = (width: number, height: number): Buffer => {
  const changedFile = Buffer.from(gif);
  const paletteBytes = 3 * (2 << ((gif[10] ?? 0) & 7));
  const frameStart = gif.indexOf(0x2c, 13 + paletteBytes);
  changedFile.writeUInt16LE(width, frameStart + 5);
  changedFile.writeUInt16LE(height, frameStart + 7);
  return changedFile;
};

const pixelDataStart = png.indexOf("IDAT") + 4;
const iccSegment = (part: number, partCount: number) =>
  Buffer.concat([Buffer.from("ICC_PROFILE\0"), Buffer.from([part, partCount]), Buffer.alloc(500)]);

describe("a hostile file", () => {
  test.each([
    ["of zero bytes", Buffer.alloc(0)],
    ["of one byte", Buffer.from([0xff])],
    ["with SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ["with XML and SVG", Buffer.from('<?xml version="1.0"?><svg width="9" height="9"/>')],
    ["with SVG behind the signature of GIF", Buffer.from('GIF89a<svg width="9" height="9"/>')],
    ["with HTML", Buffer.from("<!doctype html><script>alert(1)</script>")],
    ["with TIFF behind the signature of JPEG", Buffer.from("\xff\xd8\xffII*\0", "latin1")],
    ["with AVIF", Buffer.from("\0\0\0\x1cftypavif\0\0\0\0avifmif1", "latin1")],
    ["with PDF", Buffer.from("%PDF-1.7\n")],
    ["with the signature of PNG only", png.subarray(0, 8)],
    ["with the signature of WebP only", webp.subarray(0, 16)],
    ["with an empty JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xd9])],
    ["that is a truncated PNG", png.subarray(0, -30)],
    ["that is a truncated JPEG", jpeg.subarray(0, jpeg.length / 2)],
    ["that is a truncated GIF", gif.subarray(0, gif.length / 2)],
    ["that is a truncated WebP", webp.subarray(0, webp.length / 2)],
    ["with a wrong CRC of the header", changeByte(png, 29)],
    ["with a wrong CRC of the pixels", changeByte(png, png.length - 13)],
    ["with changed pixels", changeByte(png, pixelDataStart + 20)],
    ["of 0 × 0 pixels", buildPng(0, 0)],
    ["with less pixels than its header says", buildPng(2000, 2000, { rows: Buffer.alloc(100) })],
    ["with 20,000 scans", buildJpegWithScans(3000, 20_000)],
  ])("%s is rejected (rule CALLER-46)", async (_name, file) => {
    expect(await encode(file)).toBe("invalid");
  });

  test.each([
    ["PNG of 30,000 × 30,000 pixels", buildPng(30_000, 30_000, { rows: Buffer.alloc(1000) })],
    ["PNG of 4096 × 3073 pixels", buildPng(4096, 3073)],
    ["PNG of 16,384 × 1 pixels", buildPng(16_384, 1)],
    ["GIF with a frame of 65,535 × 65,535 pixels", resizeGifFrame(65_535, 65_535)],
  ])("%s is rejected before it is decoded (rule CALLER-46)", async (_name, file) => {
    expect(await encode(file)).toBe("too_many_pixels");
  });

  test("with 16 bits per channel can have half as many pixels", async () => {
    const createGray = (height: number) =>
      sharp(Buffer.alloc(4096 * height), { raw: { width: 4096, height, channels: 1 } })
        .toColourspace("grey16")
        .png({ compressionLevel: 1 })
        .toBuffer();
    expect(await encode(await createGray(1537))).toBe("too_many_pixels");
    expect(Buffer.isBuffer(await encode(await createGray(1536)))).toBe(true);
  });

  test.each([
    ["with another file at its end", Buffer.concat([png, Buffer.from("PK\x03\x04<script>")])],
    ["with a script at its end", Buffer.concat([jpeg, Buffer.from("<script>alert(1)</script>")])],
    ["with a broken color profile", insertJpegSegment(jpeg, 0xe2, iccSegment(1, 1))],
    ["with a missing part of its color profile", insertJpegSegment(jpeg, 0xe2, iccSegment(1, 5))],
    ["with part 0 of a color profile", insertJpegSegment(jpeg, 0xe2, iccSegment(0, 0))],
    [
      "with broken Exif",
      insertJpegSegment(jpeg, 0xe1, Buffer.from(`Exif\0\0${"x".repeat(9_000)}`)),
    ],
    ["in CMYK", cmyk],
    ["with 90 scans", buildJpegWithScans(3000, 90)],
    [
      "with text that unpacks to 1 GB",
      buildPng(8, 8, { chunks: [buildCompressedChunk("zTXt", Buffer.alloc(1_000_000_000))] }),
    ],
    [
      "with a color profile that unpacks to 1 GB",
      buildPng(8, 8, { chunks: [buildCompressedChunk("iCCP", Buffer.alloc(1_000_000_000))] }),
    ],
    ["with pixels that unpack to 1 GB", buildPng(8, 8, { rows: Buffer.alloc(1_000_000_000) })],
    [
      "with 100,000 empty chunks",
      buildPng(8, 8, {
        chunks: Array<Buffer>(100_000).fill(buildPngChunk("tIME", Buffer.alloc(0))),
      }),
    ],
    [
      "with 100,000 frames",
      Buffer.concat([
        gif.subarray(0, -1),
        ...Array<Buffer>(100_000).fill(
          Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]),
        ),
        Buffer.from(";"),
      ]),
    ],
  ])("%s becomes a picture without anything of it (rule CALLER-46)", async (_name, file) => {
    const { format, metadata, width } = await decode(await encode(file));
    expect([format, width]).toEqual(["webp", 256]);
    expect(metadata).not.toHaveProperty("exif");
    expect(metadata).not.toHaveProperty("icc");
  });
});

test("images are decoded outside of the event loop, with bounded memory (rule CALLER-46)", async () => {
  const file = buildPng(4096, 3072, {
    rows: Buffer.alloc(4096 * 3072 * 4 + 8 * 3072),
    isInterlaced: true,
  });
  const residentBytesBefore = process.memoryUsage.rss();
  let residentBytesMax = residentBytesBefore;
  let turnCount = 0;
  const timer = setInterval(() => {
    turnCount += 1;
    residentBytesMax = Math.max(residentBytesMax, process.memoryUsage.rss());
  }, 1);
  const pictures = await Promise.all(Array.from({ length: 4 }, () => encode(file)));
  clearInterval(timer);
  expect(pictures.every((picture) => Buffer.isBuffer(picture))).toBe(true);
  // On the event loop, there would be at most one turn between two of the ten steps.
  expect(turnCount).toBeGreaterThan(20);
  expect(residentBytesMax - residentBytesBefore).toBeLessThan(160 * 1024 * 1024);
});
