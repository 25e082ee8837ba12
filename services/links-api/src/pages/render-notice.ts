import type { IconNode } from "@payment-links/design/icons";
import { type Html, html } from "@payment-links/http";
import { renderIcon } from "./render-icon.ts";

type Notice = {
  icon: IconNode;
  title?: string;
  text: Html | string;
  tone?: "warning";
};

/** Renders a tinted notice: what happened, and what the visitor can do. */
export const renderNotice = ({ icon, title, text, tone }: Notice): Html =>
  html`<div class="${tone === undefined ? "notice" : "notice warning"}">
    ${renderIcon(icon, 20)}
    <div>
      ${title === undefined ? undefined : html`<h2>${title}</h2>`}
      <p>${text}</p>
    </div>
  </div>`;
