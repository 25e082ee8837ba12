import type { CatalogueChain } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import { isVerifiedSeller } from "../domain/link-view.ts";
import { renderAmount } from "./render-amount.ts";
import { renderCountdown, renderExpiredNotice } from "./render-expiry.ts";
import { renderChainLogo, renderTokenLogo } from "./logos.ts";
import { renderBackground, renderOwner, renderProfile } from "./render-owner.ts";
import { renderPaid } from "./render-paid.ts";
import { renderInstructions } from "./render-payment-section.ts";
import { type CheckoutState, isOpen, isPaid, renderState } from "./render-state.ts";
import { renderTestNotice } from "./render-test-notice.ts";
import { renderTime } from "./render-time.ts";
import { renderTokenRows } from "./render-token.ts";
import { fillPlaceholders } from "./localization.ts";

export type CheckoutPage = CheckoutState & {
  /** The progress of payments. Undefined if the page can no longer change. */
  paymentSection: Html | undefined;
  /** The ways to pay. Undefined if the link cannot be paid on this page. */
  paymentOptions: Html | undefined;
  /**
   * Whether pending payments cover the rest. The page then invites no other payment. If the sender
   * declares the payment as failed, the script shows the hidden elements again.
   */
  isCovered: boolean;
  lastPayment: Payment | undefined;
  now: Date;
};

/** Renders a checkout: what is paid, how to pay it, and the details. */
export const renderCheckout = (
  dependencies: Dependencies,
  page: CheckoutPage,
  chain: CatalogueChain,
): Html => {
  const { link, instructionsResult, isCovered, localization } = page;
  const { paymentOptions, paymentSection } = page;
  const isPayable = "instructions" in instructionsResult;
  const classNames = ["card", isPayable && "split", isCovered && "covered"];
  return html`${renderBackground(link.owner)}
    <main class="${classNames.filter(Boolean).join(" ")}">
      ${renderTestNotice(link, chain, localization)}
      <div class="order">
        ${renderOwner(dependencies.checkoutUrl, link.owner, renderUnverifiedNotice(dependencies, page))}
        ${isPaid(page) ? renderPaid(dependencies, page) : renderOrder(page)}
      </div>
      <div class="payment">
        ${renderState(page)}
        ${isOpen(page) && link.expiresAt !== null ? renderExpiredNotice(localization) : undefined}
        ${paymentSection} ${paymentOptions} ${isPayable ? renderNetwork(page) : undefined}
        ${isOpen(page) ? renderCountdown({ ...link, ...page }, localization) : undefined}
      </div>
      <div class="more">
        ${renderDetails(page)} ${renderAdvanced(page)} ${renderProfile(link.owner)}
      </div>
    </main>`;
};

/**
 * If anyone can sign up, renders a warning about a seller that the operator has not verified (rule
 * CALLER-38).
 */
const renderUnverifiedNotice = (
  { isSignUpOpen }: Dependencies,
  { link, localization: { texts } }: CheckoutPage,
): Html | undefined =>
  isSignUpOpen && !isVerifiedSeller(link.owner)
    ? html`<p class="notice warning">${texts.unverified}</p>`
    : undefined;

/** The length of an amount that fits on one line of a phone in the large font. */
const shortAmountCharsMax = 9;

/** Renders what is paid. A long description is cut off here, and complete in the details. */
const renderOrder = ({ link, token, localization: { language } }: CheckoutPage): Html =>
  html`${link.description === null ? undefined : html`<p class="description" dir="auto">${link.description}</p>`}
    <h1 class="${link.toAmount.length > shortAmountCharsMax ? "amount long" : "amount"}">
      ${renderTokenLogo(token.symbol)}
      <span>
        ${renderAmount(link.toAmount, language)} <span class="unit">${token.symbol}</span>
      </span>
    </h1>`;

const renderNetwork = ({ token: { chain }, localization: { texts } }: CheckoutPage): Html =>
  html`<p class="network while-payable">
    ${renderChainLogo(chain.id)}
    <span><b>${chain.name}</b> · ${texts.sentDirectly}</span>
  </p>`;

/** The length of a description that always fits into its two lines above the amount. */
const shortDescriptionCharsMax = 60;

/** Renders the rows that every visitor may need. */
const renderDetails = (page: CheckoutPage): Html | undefined => {
  const { link, token, localization } = page;
  const { language, texts } = localization;
  const { description, expiresAt, maxUsage, receivedAmount } = link;
  const isLong =
    description !== null &&
    (isPaid(page) || description.length > shortDescriptionCharsMax || description.includes("\n"));
  const rows = [
    isLong &&
      html`<div class="full">
        <dt>${texts.labels.description}</dt>
        <dd class="text" dir="auto">${description}</dd>
      </div>`,
    (maxUsage !== null || (receivedAmount !== "0" && !isOpen(page) && !isPaid(page))) &&
      html`<div>
        <dt>${texts.labels.received}</dt>
        <dd>${renderAmount(receivedAmount, language)} ${token.symbol}${formatUsage(page)}</dd>
      </div>`,
    expiresAt !== null &&
      isOpen(page) &&
      html`<div>
        <dt>${texts.labels.expires}</dt>
        <dd>${renderTime(expiresAt, language)}</dd>
      </div>`,
  ].filter((row) => row !== false);
  return rows.length === 0 ? undefined : html`<dl class="rows">${rows}</dl>`;
};

/** Renders the technical data, and how to pay manually with calls. */
const renderAdvanced = ({ link, token, instructionsResult, localization }: CheckoutPage): Html => {
  const { labels } = localization.texts;
  return html`<details id="details">
    <summary>${labels.advanced}</summary>
    <dl class="rows">
      ${renderTokenRows(token, localization)}
      <div>
        <dt>${labels.settlesTo}</dt>
        <dd><code>${link.destinationAddress}</code></dd>
      </div>
    </dl>
    ${
      "instructions" in instructionsResult && "steps" in instructionsResult.instructions
        ? renderInstructions(instructionsResult.instructions, token, localization)
        : undefined
    }
  </details>`;
};

const formatUsage = ({
  link: { currentUsage, maxUsage },
  localization: { texts },
}: CheckoutPage): string | undefined =>
  maxUsage === null
    ? undefined
    : fillPlaceholders(texts.labels.usage, { count: String(currentUsage), most: String(maxUsage) });
