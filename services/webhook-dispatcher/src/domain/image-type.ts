/** The image types that the service returns. A browser does not execute scripts in any of them. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif";

const magicBytesByType: readonly (readonly [ImageType, string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
];

const sniffedBytesMax = 64;

/**
 * Returns an image's type by its first bytes, regardless of its `Content-Type` or name. Returns
 * undefined for every other format, such as SVG and HTML.
 */
export const sniffImageType = (bytes: Buffer): ImageType | undefined => {
  const firstBytes = bytes.toString("latin1", 0, sniffedBytesMax);
  const match = magicBytesByType.find(([, magicBytes]) => firstBytes.startsWith(magicBytes));
  if (match !== undefined) return match[0];
  if (firstBytes.startsWith("RIFF") && firstBytes.startsWith("WEBP", 8)) return "image/webp";
  return firstBytes.startsWith("ftyp", 4) && hasAvifBrand(bytes) ? "image/avif" : undefined;
};

/** The first box of the file has its length, name, major brand, version and compatible brands. */
const hasAvifBrand = (bytes: Buffer): boolean => {
  const box = bytes.toString("latin1", 8, Math.min(bytes.readUInt32BE(0), sniffedBytesMax));
  const brands = box.match(/[^]{4}/g) ?? [];
  return brands.some((brand) => brand === "avif" || brand === "avis");
};
