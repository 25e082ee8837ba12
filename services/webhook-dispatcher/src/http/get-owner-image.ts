import type { Request, Response } from "express";
import { isId, buildOwnerImagePath, createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { imageCacheMs } from "../images/owner-images.ts";
import { findImageUrls } from "../store/owner-images.ts";

const maxAgeSeconds = imageCacheMs / 1000;

/**
 * GET /checkout/images/:userId/:digest: an owner's image, for the pages that show that owner (rule
 * API-27). Whatever else the path names, and what cannot be had, is 404: the page stands without it.
 */
export const getOwnerImage =
  ({ pool, images }: Pick<Dependencies, "pool" | "images">) =>
  async (req: Request, res: Response): Promise<void> => {
    const userId = parsePathParameter(req, "userId");
    const urls = isId("user", userId) ? await findImageUrls(pool, userId) : [];
    const url = urls.find((ownerUrl) => buildOwnerImagePath(userId, ownerUrl) === req.path);
    const image = url === undefined ? undefined : await images.find({ ownerId: userId, url });
    if (image === undefined) throw createApiError("NOT_FOUND");
    // The headers tell of the caller's own budget, so no cache may share them.
    res.setHeader("Cache-Control", `private, max-age=${maxAgeSeconds}`);
    res.setHeader("Content-Security-Policy", "default-src 'none'; sandbox");
    res.setHeader("Cross-Origin-Resource-Policy", "same-origin");
    res.setHeader("Content-Type", image.type);
    res.setHeader("Content-Length", image.bytes.length);
    res.end(image.bytes);
  };
