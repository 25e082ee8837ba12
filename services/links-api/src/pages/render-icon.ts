import type { IconNode } from "@payment-links/design/icons";
import { type Html, html } from "@payment-links/http";

/** Renders an icon in the color of the text. It is decorative: the text next to it has the meaning. */
export const renderIcon = (node: IconNode, size = 16): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" width="${size}" height="${size}" aria-hidden="true">
    ${renderIconContent(node)}
  </svg>`;

/** Renders the elements of an icon. */
export const renderIconContent = (node: IconNode): Html =>
  html`${node.map(([element, attributes]) => html`<${element}${renderAttributes(attributes)} />`)}`;

const renderAttributes = (attributes: Readonly<Record<string, string>>): Html[] =>
  Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`);
