import type { Request, Response } from "express";
import type { ConsoleFiles } from "./console-files.ts";

/**
 * GET /console/version: returns the version of the current console, with which an open page detects
 * updates.
 */
export const getConsoleVersion =
  (getConsoleFiles: () => ConsoleFiles) =>
  (_req: Request, res: Response): void => {
    res.type("text/plain; charset=utf-8").send(getConsoleFiles().version);
  };
