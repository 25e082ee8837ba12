import type { Request, Response } from "express";
import { createApiError, isPictureDigest } from "@payment-links/contracts";
import { parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { findPicture } from "../store/profile-pictures.ts";

/**
 * GET /checkout/pictures/:digest: returns an uploaded profile picture to anyone (rule CALLER-46).
 * The digest identifies the content, so browsers can store it forever.
 */
export const getPicture =
  ({ pool }: Pick<Dependencies, "pool">) =>
  async (req: Request, res: Response): Promise<void> => {
    const digest = parsePathParameter(req, "digest");
    const bytes = isPictureDigest(digest)
      ? await findPicture(pool, Buffer.from(digest, "hex"))
      : undefined;
    if (bytes === undefined) throw createApiError("NOT_FOUND");
    // The response headers contain the caller's own rate limit, so shared caches must not store the
    // response.
    res.setHeader("Cache-Control", "private, max-age=31536000, immutable");
    res.setHeader("Content-Security-Policy", "default-src 'none'; sandbox");
    // The URL is part of the public API, so pages of other sites can show the picture.
    res.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
    res.setHeader("Content-Type", "image/webp");
    res.setHeader("Content-Length", bytes.length);
    res.end(bytes);
  };
