import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { readParam } from "@payment-links/http";
import type { ConsoleFile, ConsoleFiles } from "./console-files.ts";

/** GET /console/assets/:name: a file of the console. Its name changes with its content. */
export const getConsoleAsset =
  (openFiles: () => ConsoleFiles) =>
  (req: Request, res: Response): void => {
    const file = openFiles().find(readParam(req, "name"));
    if (file === undefined) throw refuse("NOT_FOUND");
    const { encoding, bytes } = choose(req, file);
    if (encoding !== undefined) res.setHeader("Content-Encoding", encoding);
    res.setHeader("Cache-Control", "public, max-age=31536000, immutable");
    res.setHeader("Vary", "Accept-Encoding");
    res.type(file.type).send(bytes);
  };

/** Compressed as small as the browser can read it. */
const choose = (req: Request, { br, bytes, gzip }: ConsoleFile) => {
  const encoding = req.acceptsEncodings(["br", "gzip"]);
  if (encoding === "br") return { encoding, bytes: br };
  return encoding === "gzip" ? { encoding, bytes: gzip } : { encoding: undefined, bytes };
};

/** GET /console/version: which console a page gets now, so that an old one can tell. */
export const getConsoleVersion =
  (openFiles: () => ConsoleFiles) =>
  (_req: Request, res: Response): void => {
    res.type("text/plain; charset=utf-8").send(openFiles().version);
  };
