import type { Request, Response } from "express";
import encodeQr from "qr";
import { checkoutPageUrl } from "@payment-links/contracts";
import { type Html, html, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { readLink } from "../store/read-link.ts";

/** The quiet zone that scanners need, in modules (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4;

/**
 * GET /checkout/qr/:id.svg: the address of a link's page, for the camera of a phone. Dark on light with
 * its margin in every theme, as some readers know no other.
 */
export const getQr =
  (deps: Pick<Deps, "checkoutUrl" | "findLinkView">) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const link = await readLink(deps, linkId);
    const address = checkoutPageUrl(deps.checkoutUrl, link.owner.handle, linkId);
    // An owner's former handle leads to the page as well, so it may be kept.
    answerQr(res, address, "public, max-age=86400");
  };

/** Answers a text as a QR code, an image that runs nothing. */
export const answerQr = (res: Response, text: string, cacheControl: string): void => {
  res.setHeader("Cache-Control", cacheControl);
  res.setHeader("Content-Security-Policy", "default-src 'none'");
  res.setHeader("X-Content-Type-Options", "nosniff");
  res.type("image/svg+xml").send(drawQr(text).text);
};

/** Each row's dark modules, run by run, are one path. */
const drawQr = (text: string): Html => {
  const modules = encodeQr(text, "raw", { ecc: "medium", border: quietZone });
  const path = modules.flatMap(drawRow).join("");
  const side = modules.length;
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 ${side} ${side}"
    shape-rendering="crispEdges"
  >
    <path fill="#fff" d="M0 0h${side}v${side}H0z" />
    <path fill="#000" d="${path}" />
  </svg>`;
};

const drawRow = (row: readonly boolean[], y: number): string[] =>
  row.flatMap((isDark, x) => {
    if (!isDark || row[x - 1] === true) return [];
    const end = row.indexOf(false, x);
    const length = (end === -1 ? row.length : end) - x;
    return [`M${x} ${y}h${length}v1h-${length}z`];
  });
