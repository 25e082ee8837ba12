import { type Html, html } from "@payment-links/http";
import type { OwnerView } from "../domain/link-view.ts";
import { findImagePath } from "./find-image-path.ts";

const colourPattern = /^#[0-9a-f]{6}$/i;

/**
 * Renders the owner's color behind the page. It uses an SVG attribute because the policy blocks
 * inline styles. All text is on the card in front of the color, so the color does not affect its
 * contrast.
 */
export const renderBackground = ({ backgroundColour: colour }: OwnerView): Html | undefined =>
  colour !== null && colourPattern.test(colour)
    ? html`<svg class="ground" aria-hidden="true">
        <rect width="100%" height="100%" fill="${colour}" />
      </svg>`
    : undefined;

/** Renders the owner at the top of a page, with a notice for payers if there is one. */
export const renderOwner = (checkoutUrl: string, owner: OwnerView, notice?: Html): Html =>
  html`<header class="owner">
    ${renderImage(findImagePath(checkoutUrl, owner.id, owner.backgroundImage), "banner")}
    <div class="seller">
      ${renderImage(findImagePath(checkoutUrl, owner.id, owner.profileImage), "portrait")}
      <div>
        <p class="name"><bdi>${owner.username}</bdi></p>
        <p class="handle">@${owner.handle}</p>
      </div>
    </div>
    ${notice}
  </header>`;

/** Renders the rest of the owner's profile at the bottom of a page. */
export const renderProfile = (owner: OwnerView): Html =>
  html`<footer class="profile">
    ${owner.bio === null ? undefined : html`<p class="bio"><bdi>${owner.bio}</bdi></p>`}
    ${renderLinks(owner.links ?? [])}
  </footer>`;

const renderImage = (path: string | undefined, className: string): Html | undefined =>
  path === undefined ? undefined : html`<img class="${className}" src="${path}" alt="" />`;

const renderLinks = (addresses: readonly string[]): Html | undefined => {
  const items = addresses.filter(isWebAddress).map(
    (address) =>
      html`<li>
        <a href="${address}" rel="noopener noreferrer nofollow ugc"><bdi>${address}</bdi></a>
      </li>`,
  );
  return items.length === 0
    ? undefined
    : html`<ul class="links">
        ${items}
      </ul>`;
};

/**
 * Returns whether an address is an `http` or `https` URL. Profiles are untrusted, and a URL with
 * another scheme could run a script.
 */
const isWebAddress = (address: string): boolean =>
  URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
