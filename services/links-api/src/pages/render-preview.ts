import { type Html, html } from "@payment-links/http";
import type { OwnerView } from "../domain/link-view.ts";
import { findImagePath } from "./find-image-path.ts";

type Preview = {
  title: string;
  /** The owner's description of the link. */
  description: string | null;
  url: string;
  owner: OwnerView;
  checkoutUrl: string;
};

/**
 * Renders the Open Graph preview that messengers show for a shared URL. It contains the main
 * information of the page, and the owner's image with a URL of this service.
 */
export const renderPreview = ({ title, description, url, owner, checkoutUrl }: Preview): Html => {
  const imagePath = findImagePath(checkoutUrl, owner.id, owner.profileImage);
  return html`<meta property="og:site_name" content="Payment Links" />
    <meta property="og:type" content="website" />
    <meta property="og:url" content="${url}" />
    <meta property="og:title" content="${title}" />
    ${
      description === null
        ? undefined
        : html`<meta property="og:description" content="${toPlainLine(description)}" />`
    }
    ${
      imagePath === undefined
        ? undefined
        : html`<meta property="og:image" content="${checkoutUrl}${imagePath}" />`
    }
    <meta name="twitter:card" content="summary" /> `;
};

const plainLengthMax = 200;

/**
 * Returns a text as one short line, for places that do not support markup. Removes control
 * characters that could reorder the surrounding text.
 */
export const toPlainLine = (text: string): string => {
  const line = text
    .replaceAll(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replaceAll(/[\p{Cc}\p{Z}]+/gu, " ")
    .trim();
  const characters = [...line];
  return characters.length <= plainLengthMax
    ? line
    : `${characters.slice(0, plainLengthMax - 1).join("")}…`;
};
