import { type Html, html } from "@payment-links/http";
import type { OwnerView } from "../domain/link-view.ts";

/** The owner's public profile at the head of a page. */
export const showOwner = (owner: OwnerView): Html =>
  html`<header class="owner">
    ${image(owner.backgroundImage, "banner")} ${image(owner.profileImage, "portrait")}
    <p class="name">${owner.username}</p>
    <p class="handle">@${owner.handle}</p>
    ${owner.bio === null ? undefined : html`<p class="bio">${owner.bio}</p>`}
    ${showLinks(owner.links ?? [])}
  </header>`;

const image = (address: string | null, className: string): Html | undefined =>
  address !== null && isWebAddress(address)
    ? html`<img class="${className}" src="${address}" alt="" />`
    : undefined;

const showLinks = (addresses: readonly string[]): Html | undefined => {
  const items = addresses
    .filter(isWebAddress)
    .map(
      (address) =>
        html`<li><a href="${address}" rel="noopener noreferrer nofollow ugc">${address}</a></li>`,
    );
  return items.length === 0
    ? undefined
    : html`<ul class="links">
        ${items}
      </ul>`;
};

/** A profile is a stranger's text: a URL of another scheme could run a script. */
const isWebAddress = (address: string): boolean =>
  URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
