import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import { sendCompressedFile, setImmutable } from "./compressed-file.ts";
import type { ConsoleFiles } from "./console-files.ts";

/**
 * GET /console/assets/:name: returns a file of the console. The file's name changes when its
 * content changes.
 */
export const getConsoleAsset =
  (getConsoleFiles: () => ConsoleFiles) =>
  (req: Request, res: Response): void => {
    const file = getConsoleFiles().find(parsePathParameter(req, "name"));
    if (file === undefined) throw createApiError("NOT_FOUND");
    setImmutable(res);
    sendCompressedFile(req, res, file);
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
