import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { ConsoleFile, ConsoleFiles } from "./console-files.ts";

/**
 * GET /console/assets/:name: returns a file of the console. The file's name changes when its
 * content changes.
 */
export const getConsoleAsset =
  (getConsoleFiles: () => ConsoleFiles) =>
  (req: Request, res: Response): void => {
    const file = getConsoleFiles().find(parsePathParameter(req, "name"));
    if (file === undefined) throw createApiError("NOT_FOUND");
    const { encoding, bytes } = chooseEncoding(req, file);
    if (encoding !== undefined) res.setHeader("Content-Encoding", encoding);
    res.setHeader("Cache-Control", "public, max-age=31536000, immutable");
    res.setHeader("Vary", "Accept-Encoding");
    res.type(file.type).send(bytes);
  };

/** Chooses the smallest encoding that the browser accepts. */
const chooseEncoding = (req: Request, { br, bytes, gzip }: ConsoleFile) => {
  const encoding = req.acceptsEncodings(["br", "gzip"]);
  if (encoding === "br") return { encoding, bytes: br };
  return encoding === "gzip" ? { encoding, bytes: gzip } : { encoding: undefined, bytes };
};

/**
 * GET /console/version: returns the version of the current console, with which an open page detects
 * updates.
 */
export const getConsoleVersion =
  (getConsoleFiles: () => ConsoleFiles) =>
  (_req: Request, res: Response): void => {
    res.type("text/plain; charset=utf-8").send(getConsoleFiles().version);
  };
