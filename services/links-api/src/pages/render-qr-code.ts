import { type Html, html } from "@payment-links/http";

type QrCode = { path: string; alternative: string; caption?: string };

/** Renders a QR code. A code in an option that is not selected is not loaded. */
export const renderQrCode = ({ path, alternative, caption }: QrCode): Html =>
  html`<figure class="qr">
    <img src="${path}" width="200" height="200" loading="lazy" alt="${alternative}" />
    ${caption === undefined ? undefined : html`<figcaption>${caption}</figcaption>`}
  </figure>`;
