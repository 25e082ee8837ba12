import { describe, expect, test } from "@jest/globals";
import { sniffImageType } from "./image-type.ts";

const sniff = (text: string) => sniffImageType(Buffer.from(text, "latin1"));

describe("sniffImageType (rule API-27)", () => {
  test.each([
    ["image/png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"],
    ["image/jpeg", "\xff\xd8\xff\xe0\0\x10JFIF"],
    ["image/gif", "GIF87a\x01\0"],
    ["image/gif", "GIF89a\x01\0"],
    ["image/webp", "RIFF\x24\0\0\0WEBPVP8 "],
    ["image/avif", "\0\0\0\x20ftypavif\0\0\0\0mif1miaf"],
    ["image/avif", "\0\0\0\x20ftypmif1\0\0\0\0mif1avif"],
    ["image/avif", `\0\0\0\x40ftypmif1${"\0\0\0\0mif1".repeat(5)}\0\0\0\0avif`],
    ["image/avif", "\0\0\0\x20ftypavis\0\0\0\0msf1"],
  ])("detects %s by its first bytes", (type, bytes) => {
    expect(sniff(bytes)).toBe(type);
  });

  test.each([
    ["nothing", ""],
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ["SVG with an XML declaration", '<?xml version="1.0"?><svg/>'],
    ["HTML", "<!doctype html><script>alert(1)</script>"],
    ["a script", "alert(1)"],
    ["PDF", "%PDF-1.7"],
    ["a bitmap", "BM\x36\0"],
    ["an icon", "\0\0\x01\0"],
    ["TIFF", "II*\0"],
    ["gzip with any content", "\x1f\x8b\x08\0"],
    ["PNG with a leading byte", " \x89PNG\r\n\x1a\n"],
    ["truncated PNG", "\x89PNG\r\n"],
    ["RIFF audio", "RIFF\x24\0\0\0WAVEfmt "],
    ["a video", "\0\0\0\x20ftypisom\0\0\x02\0isomiso2"],
    ["HEIC", "\0\0\0\x18ftypheic\0\0\0\0mif1heic"],
    ["a WEBP marker at another place in RIFF", "RIFF\x24\0\0\0WAVEWEBP"],
    ["an AVIF brand after the first box", "\0\0\0\x14ftypisom\0\0\0\0mif1avif"],
    ["an AVIF brand beyond the sniffed bytes", `\0\0\0\x80ftypisom${"\0".repeat(80)}avif`],
  ])("rejects %s", (_name, bytes) => {
    expect(sniff(bytes)).toBeUndefined();
  });
});
