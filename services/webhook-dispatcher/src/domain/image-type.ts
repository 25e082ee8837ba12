/** The types in which an owner's image is handed on. None of them can hold a script that runs. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif";

const beginnings: readonly (readonly [ImageType, string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
];

const readBytes = 64;

/**
 * What an image is by its first bytes, whatever its server or its name call it; undefined for all
 * else, SVG and HTML among it.
 */
export const imageTypeOf = (bytes: Buffer): ImageType | undefined => {
  const start = bytes.toString("latin1", 0, readBytes);
  const known = beginnings.find(([, beginning]) => start.startsWith(beginning));
  if (known !== undefined) return known[0];
  if (start.startsWith("RIFF") && start.startsWith("WEBP", 8)) return "image/webp";
  return start.startsWith("ftyp", 4) && hasAvifBrand(bytes) ? "image/avif" : undefined;
};

/** The file's first box: its length, its name, the main brand, a version, and the other brands. */
const hasAvifBrand = (bytes: Buffer): boolean => {
  const box = bytes.toString("latin1", 8, Math.min(bytes.readUInt32BE(0), readBytes));
  const brands = box.match(/[^]{4}/g) ?? [];
  return brands.some((brand) => brand === "avif" || brand === "avis");
};
