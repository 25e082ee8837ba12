import { crc32, deflateSync } from "node:zlib";

type PngOptions = {
  /** The pixel data in place of black pixels, not compressed. Each row starts with a filter byte. */
  rows?: Buffer;
  /** Chunks before the pixel data. */
  chunks?: readonly Buffer[];
  isInterlaced?: boolean;
};

/** Builds a PNG file with 8-bit RGBA pixels. The header can be false. */
export const buildPng = (
  width: number,
  height: number,
  {
    rows = Buffer.alloc(height * (1 + 4 * width)),
    chunks = [],
    isInterlaced = false,
  }: PngOptions = {},
): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = 6;
  header[12] = isInterlaced ? 1 : 0;
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    buildPngChunk("IHDR", header),
    ...chunks,
    buildPngChunk("IDAT", deflateSync(rows, { level: 9 })),
    buildPngChunk("IEND", Buffer.alloc(0)),
  ]);
};

export const buildPngChunk = (type: string, data: Buffer): Buffer => {
  const typeAndData = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  typeAndData.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(typeAndData), data.length + 8);
  return chunk;
};

/** Builds a compressed PNG chunk: a name, a method and the data. */
export const buildCompressedChunk = (type: string, data: Buffer): Buffer =>
  buildPngChunk(type, Buffer.concat([Buffer.from("a\0\0"), deflateSync(data, { level: 9 })]));

/** Inserts a segment after the start of a JPEG file. */
export const insertJpegSegment = (jpeg: Buffer, marker: number, data: Buffer): Buffer => {
  const segment = buildJpegSegment(marker, data);
  return Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]);
};

const buildJpegSegment = (marker: number, data: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(data.length + 2);
  return Buffer.concat([Buffer.from([0xff, marker]), length, data]);
};

/**
 * Builds a gray progressive JPEG file whose scans are all empty. Each scan takes time for all
 * pixels.
 */
export const buildJpegWithScans = (side: number, scanCount: number): Buffer => {
  const blockCount = Math.ceil(side / 8) ** 2;
  const frame = Buffer.from([8, side >> 8, side & 255, side >> 8, side & 255, 1, 1, 0x11, 0]);
  const codeLengths = Buffer.alloc(16);
  const emptyScans = Array.from({ length: scanCount - 1 }, (_, index) => {
    const coefficient = 1 + (index % 63);
    return [
      buildJpegSegment(0xda, Buffer.from([1, 1, 0, coefficient, coefficient, 0])),
      // One code for up to 16,384 empty blocks.
      Buffer.alloc(Math.ceil(blockCount / 16_384) * 2),
    ];
  });
  const dcCodes = Buffer.concat([
    Buffer.from([0x00, 1]),
    codeLengths.subarray(1),
    Buffer.from([0]),
  ]);
  const acCodes = Buffer.concat([
    Buffer.from([0x10, 0, 1]),
    codeLengths.subarray(2),
    Buffer.from([0xe0]),
  ]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    buildJpegSegment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])),
    buildJpegSegment(0xc2, frame),
    buildJpegSegment(0xc4, dcCodes),
    buildJpegSegment(0xc4, acCodes),
    buildJpegSegment(0xda, Buffer.from([1, 1, 0, 0, 0, 0])),
    Buffer.alloc(Math.ceil(blockCount / 8)),
    ...emptyScans.flat(),
    Buffer.from([0xff, 0xd9]),
  ]);
};
