import type { Request, Response } from "express";
import { productIcon } from "@payment-links/design";

/**
 * GET /favicon.svg and GET /favicon.ico: returns the icon of the pages. Some clients request the
 * `.ico` path by default.
 */
export const getIcon = (_req: Request, res: Response): void => {
  res.setHeader("Cache-Control", "public, max-age=86400");
  res.setHeader("Content-Security-Policy", "default-src 'none'");
  res.type("image/svg+xml").send(productIcon);
};
