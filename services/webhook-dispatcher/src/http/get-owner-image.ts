import type { Request, Response } from "express";
import { isId, buildOwnerImagePath, createApiError } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { imageCacheMs } from "../images/owner-images.ts";
import { findImageUrls } from "../store/owner-images.ts";

const maxAgeSeconds = imageCacheMs / 1000;

/**
 * GET /checkout/images/:userId/:digest: returns an owner's image for the pages that show this owner
 * (rule API-27). Responds 404 if the path is unknown or the image is unavailable. The page is then
 * shown without the image.
 */
export const getOwnerImage =
  ({ pool, images }: Pick<Dependencies, "pool" | "images">) =>
  async (req: Request, res: Response): Promise<void> => {
    const userId = parsePathParameter(req, "userId");
    const urls = isId("user", userId) ? await findImageUrls(pool, userId) : [];
    const url = urls.find((ownerUrl) => buildOwnerImagePath(userId, ownerUrl) === req.path);
    const image = url === undefined ? undefined : await images.find({ ownerId: userId, url });
    if (image === undefined) throw createApiError("NOT_FOUND");
    // The response headers contain the caller's own rate limit, so shared caches must not store the
    // response.
    res.setHeader("Cache-Control", `private, max-age=${maxAgeSeconds}`);
    res.setHeader("Content-Security-Policy", "default-src 'none'; sandbox");
    res.setHeader("Cross-Origin-Resource-Policy", "same-origin");
    res.setHeader("Content-Type", image.type);
    res.setHeader("Content-Length", image.bytes.length);
    res.end(image.bytes);
  };
