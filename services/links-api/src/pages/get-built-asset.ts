import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import { type CompressedFile, sendCompressedFile, setImmutable } from "./compressed-file.ts";

/**
 * GET /console/assets/:name and GET /docs/assets/:name: returns a file that the pages load. The
 * file's name changes when its content changes.
 */
export const getBuiltAsset =
  (find: (name: string) => CompressedFile | undefined) =>
  (req: Request, res: Response): void => {
    const file = find(parsePathParameter(req, "name"));
    if (file === undefined) throw createApiError("NOT_FOUND");
    setImmutable(res);
    sendCompressedFile(req, res, file);
  };
