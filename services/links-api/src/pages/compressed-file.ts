import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import type { Request, Response } from "express";

/** A built file, uncompressed and in each encoding in which it can be sent. */
export type CompressedFile = { type: string; bytes: Buffer; br: Buffer; gzip: Buffer };

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Whether a file of this name can be sent. */
const hasMediaType = (name: string): boolean => extname(name) in mediaTypes;

/**
 * Reads the files of a folder, by name. Their compressed copies, which the build wrote, are part of
 * them.
 */
export const readCompressedFiles = (folder: string): ReadonlyMap<string, CompressedFile> =>
  new Map(
    readdirSync(folder)
      .filter(hasMediaType)
      .map((name) => [name, readCompressedFile(join(folder, name))]),
  );

const readCompressedFile = (path: string): CompressedFile => ({
  type: mediaTypes[extname(path)] ?? "",
  bytes: readFileSync(path),
  br: readFileSync(`${path}.br`),
  gzip: readFileSync(`${path}.gz`),
});

/** Sends a file in the smallest encoding that the browser accepts. */
export const sendCompressedFile = (req: Request, res: Response, file: CompressedFile): void => {
  const { encoding, bytes } = chooseEncoding(req, file);
  if (encoding !== undefined) res.setHeader("Content-Encoding", encoding);
  res.setHeader("Vary", "Accept-Encoding");
  res.type(file.type).send(bytes);
};

const chooseEncoding = (req: Request, { br, bytes, gzip }: CompressedFile) => {
  const encoding = req.acceptsEncodings(["br", "gzip"]);
  if (encoding === "br") return { encoding, bytes: br };
  return encoding === "gzip" ? { encoding, bytes: gzip } : { encoding: undefined, bytes };
};

/** Lets browsers store a file whose name changes when its content changes. */
export const setImmutable = (res: Response): void => {
  res.setHeader("Cache-Control", "public, max-age=31536000, immutable");
};
