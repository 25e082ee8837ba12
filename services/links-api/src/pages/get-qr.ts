import type { Request, Response } from "express";
import encodeQr from "qr";
import { buildCheckoutPageUrl } from "@payment-links/contracts";
import { type Html, html, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { readLink } from "../store/read-link.ts";

/** The width of the blank margin that scanners need, in modules (ISO/IEC 18004, section 6.3.8). */
const quietZoneModules = 4;

/**
 * GET /checkout/qr/:id.svg: returns the URL of a link's page as a QR code for a phone's camera. In
 * every theme the code is dark on a light background with a margin, because some scanners cannot
 * read other codes.
 */
export const getQr =
  (dependencies: Pick<Dependencies, "checkoutUrl" | "findLinkView">) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const link = await readLink(dependencies, linkId);
    const pageUrl = buildCheckoutPageUrl(dependencies.checkoutUrl, link.owner.handle, linkId);
    // The image can be cached, because URLs with a former handle still lead to the page.
    sendQr(res, pageUrl, "public, max-age=86400");
  };

/** Sends a text as a QR code in the SVG format. */
export const sendQr = (res: Response, text: string, cacheControl: string): void => {
  res.setHeader("Cache-Control", cacheControl);
  res.setHeader("Content-Security-Policy", "default-src 'none'");
  res.setHeader("X-Content-Type-Options", "nosniff");
  res.type("image/svg+xml").send(renderQr(text).text);
};

/**
 * Renders a QR code. All dark modules form a single path, with one segment for each horizontal run.
 */
const renderQr = (text: string): Html => {
  const modules = encodeQr(text, "raw", { ecc: "medium", border: quietZoneModules });
  const path = modules.flatMap(toPathSegments).join("");
  const sideLength = modules.length;
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 ${sideLength} ${sideLength}"
    shape-rendering="crispEdges"
  >
    <path fill="#fff" d="M0 0h${sideLength}v${sideLength}H0z" />
    <path fill="#000" d="${path}" />
  </svg>`;
};

const toPathSegments = (row: readonly boolean[], y: number): string[] =>
  row.flatMap((isDark, x) => {
    if (!isDark || row[x - 1] === true) return [];
    const runEnd = row.indexOf(false, x);
    const runLength = (runEnd === -1 ? row.length : runEnd) - x;
    return [`M${x} ${y}h${runLength}v1h-${runLength}z`];
  });
