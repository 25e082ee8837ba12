import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import { findAsset } from "./assets.ts";

/** GET /checkout/assets/:name: returns a stylesheet, script or icon of the pages. */
export const getAsset = (req: Request, res: Response): void => {
  const asset = findAsset(parsePathParameter(req, "name"));
  if (asset === undefined) throw createApiError("NOT_FOUND");
  const isCurrent = req.query["v"] === asset.digest;
  // During a rollout, an old page can get a file of the new version under the old URL. This
  // response must not be cached.
  const cacheControl = isCurrent ? "public, max-age=31536000, immutable" : "no-cache";
  res.setHeader("Cache-Control", cacheControl);
  res.setHeader("X-Content-Type-Options", "nosniff");
  res.type(`${asset.type}; charset=utf-8`).send(asset.text);
};
