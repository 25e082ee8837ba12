import type { Request, Response } from "express";
import { getFamily } from "@payment-links/chains";
import {
  type CatalogueChain,
  Decimal,
  type LinkStatus,
  type TokenData,
  buildCheckoutPageUrl,
  formatAmount,
  buildTransactionPageUrl,
} from "@payment-links/contracts";
import { type Html, fillHtml, html, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import type { PendingPayment } from "../store/payments.ts";
import { readLink } from "../store/read-link.ts";
import { statusAt } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import {
  type NoInstructionsReason,
  type InstructionsResult,
  getRemainingAmount,
  getUnsendableRemainder,
} from "../domain/payment-instructions.ts";
import { buildTransactionRequestUrl } from "../domain/solana-request.ts";
import type { WrongToken } from "../domain/wrong-token.ts";
import { type OwnedLinkView, isVerifiedSeller } from "../domain/link-view.ts";
import { sendPage } from "./send-page.ts";
import { groupDigits, renderAmount } from "./render-amount.ts";
import { renderManualPayment } from "./render-manual-payment.ts";
import { renderExchangeInstructions } from "./render-exchange-instructions.ts";
import { renderExpiry } from "./render-expiry.ts";
import { renderFollowSection } from "./render-follow-section.ts";
import { renderBackground, renderOwner, renderProfile } from "./render-owner.ts";
import { renderInstructions, renderPaymentSection } from "./render-payment-section.ts";
import { toPlainLine, renderPreview } from "./render-preview.ts";
import { renderTestNetworkNotice } from "./render-test-network-notice.ts";
import { renderTime } from "./render-time.ts";
import { renderTokenContract, renderToken } from "./render-token.ts";
import { type Localization, fillPlaceholders, getLocalization } from "./localization.ts";

/**
 * GET /@:handle/pay/:id: returns the checkout page of a link. If the handle is not the owner's
 * current one, redirects to the page with the current handle (rule API-9).
 */
export const getCheckoutPage =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const [link, pendingPayments] = await Promise.all([
      readLink(dependencies, linkId),
      dependencies.listPendingPayments(linkId),
    ]);
    if (parsePathParameter(req, "handle") !== link.owner.handle) {
      res.setHeader("Cache-Control", "no-store");
      res.redirect(308, buildCheckoutPageUrl(dependencies.checkoutUrl, link.owner.handle, linkId));
      return;
    }
    const { token, tokenData } = dependencies.getToken(link.tokenId);
    const now = dependencies.clock.now();
    const [instructionsResult, wrongToken] = await Promise.all([
      dependencies.getPaymentInstructions(link, { now }),
      dependencies.findWrongToken(link),
    ]);
    const localization = getLocalization(req);
    const page = {
      link,
      token: tokenData,
      instructionsResult,
      wrongToken,
      status: statusAt(link, now),
      isCovered: "instructions" in instructionsResult && isAmountPending(link, pendingPayments),
      now,
      localization,
    };
    const title = buildTitle(page);
    const head = renderLinkPreview(dependencies, link, title);
    const { paymentSection, ...delivery } = buildPaymentView(dependencies, {
      page,
      pendingPayments,
      chain: token.chain,
    });
    const body = renderCheckout(dependencies, { ...page, paymentSection }, token.chain);
    sendPage(res, { language: localization.language, title, head, body, ...delivery });
  };

/** The payment section of the page, and the headers and the script that it needs. */
type PaymentView = Required<Pick<CheckoutPage, "paymentSection">> &
  Pick<Parameters<typeof sendPage>[1], "script" | "policy" | "connectSources">;

type PaymentViewOptions = {
  page: CheckoutPage;
  pendingPayments: readonly PendingPayment[];
  chain: CatalogueChain;
};

const buildPaymentView = (
  dependencies: Dependencies,
  { page, pendingPayments, chain }: PaymentViewOptions,
): PaymentView => {
  const { link, token, status, instructionsResult, isCovered, localization } = page;
  const followOptions = { link, status, pendingPayments, token };
  if ("reason" in instructionsResult) {
    const { reason } = instructionsResult;
    const paymentSection = isFinished(reason, pendingPayments)
      ? undefined
      : renderFollowSection({ ...followOptions, reason }, localization);
    const script = paymentSection === undefined ? "page.js" : "followed.js";
    return { paymentSection, script, policy: "scripted" };
  }
  const { instructions } = instructionsResult;
  const linkId = link.id;
  const { checkoutUrl } = dependencies;
  const pageUrl = buildCheckoutPageUrl(checkoutUrl, link.owner.handle, linkId);
  const isTransferTracked = dependencies.transferChains.has(chain.id);
  const exchangeOptions = { ...link, instructions, token, chain, isTransferTracked };
  const requestUrl = buildTransactionRequestUrl(checkoutUrl, linkId, instructions);
  const manualPaymentOptions = { linkId, pageUrl, chain, requestUrl, instructions, token };
  if (!("steps" in instructions)) {
    const followSection = renderFollowSection({ ...followOptions, reason: null }, localization);
    const paymentSection = isCovered
      ? followSection
      : html`${followSection} ${renderManualPayment(manualPaymentOptions, localization)}
        ${renderExchangeInstructions(exchangeOptions, localization)}`;
    return { paymentSection, script: "followed.js", policy: "scripted" };
  }
  const state = `${status} ${link.receivedAmount} null`;
  const paymentOptions = { linkId, pageUrl, state, instructions, pendingPayments, token, chain };
  const isTronWeb = getFamily(chain.chainType).browserWallets === "TronWeb";
  const paymentSection = html`${renderPaymentSection(paymentOptions, localization)}
  ${isTronWeb ? renderManualPayment(manualPaymentOptions, localization) : undefined}
  ${renderExchangeInstructions(exchangeOptions, localization)}`;
  return {
    paymentSection,
    script: isTronWeb ? "tron.js" : "checkout.js",
    policy: "checkout",
    connectSources: getWalletOrigins(chain),
  };
};

/** Returns whether pending payments cover the remaining amount. */
const isAmountPending = (link: OwnedLinkView, pendingPayments: readonly Payment[]): boolean =>
  Decimal.sum(0, ...pendingPayments.map(({ amount }) => amount)).gte(getRemainingAmount(link));

/**
 * Returns the origins of the chain's nodes in the catalogue, which a wallet can call from within
 * this page.
 */
const getWalletOrigins = ({ publicRpcUrl, walletNodes }: CatalogueChain): readonly string[] => {
  const publicOrigins = publicRpcUrl === undefined ? [] : [new URL(publicRpcUrl).origin];
  return [...new Set([...publicOrigins, ...(walletNodes?.origins ?? [])])];
};

/**
 * Returns whether the page can no longer change. A completed link stays completed, so only a
 * pending payment could still change the page.
 */
const isFinished = (reason: NoInstructionsReason, pendingPayments: readonly Payment[]): boolean =>
  reason === "completed" && pendingPayments.length === 0;

const buildTitle = ({
  link,
  token: { symbol },
  localization: { language, texts },
}: CheckoutPage): string => {
  const amount = groupDigits(link.toAmount, language);
  return toPlainLine(fillPlaceholders(texts.title, { amount, symbol, owner: link.owner.username }));
};

const renderLinkPreview = (
  { checkoutUrl }: Dependencies,
  link: OwnedLinkView,
  title: string,
): Html => {
  const url = buildCheckoutPageUrl(checkoutUrl, link.owner.handle, link.id);
  return renderPreview({ ...link, title, url, checkoutUrl });
};

type CheckoutPage = {
  link: OwnedLinkView;
  token: TokenData;
  status: LinkStatus;
  instructionsResult: InstructionsResult;
  /**
   * The payment instructions or the state of the link. Undefined if the page can no longer change.
   */
  paymentSection?: Html | undefined;
  wrongToken: WrongToken | undefined;
  /**
   * Whether pending payments cover the rest. The page then invites no other payment. If the sender
   * declares the payment as failed, the script shows the hidden elements again.
   */
  isCovered: boolean;
  now: Date;
  localization: Localization;
};

const renderCheckout = (
  dependencies: Dependencies,
  page: CheckoutPage,
  chain: CatalogueChain,
): Html => {
  const { link, token, instructionsResult, paymentSection, localization } = page;
  const { language, texts } = localization;
  return html`${renderBackground(link.owner)}
    <main class="${page.isCovered ? "card covered" : "card"}">
      ${renderTestNetworkNotice(chain, localization)}
      ${renderOwner(link.owner, renderUnverifiedNotice(dependencies, page))}
      <h1 class="amount">
        ${renderAmount(link.toAmount, language)} <span class="unit">${token.symbol}</span>
      </h1>
      ${renderState(page)} ${renderWrongTokenNotice(page)} ${paymentSection}
      ${renderExpiryCountdown(page)}
      ${link.description === null ? undefined : html`<p class="description" dir="auto">${link.description}</p>`}
      <dl>
        ${renderToken(token, localization)}
        <dt>${texts.labels.received}</dt>
        <dd>
          ${renderAmount(link.receivedAmount, language)}
          ${token.symbol}${formatUsage(link, localization)}
        </dd>
        ${
          link.expiresAt === null
            ? undefined
            : html`<dt>${texts.labels.expires}</dt>
                <dd>${renderTime(link.expiresAt, language)}</dd>`
        }
      </dl>
      <details id="details">
        <summary>${texts.labels.details}</summary>
        <dl>
          <dt>${texts.labels.settlesTo}</dt>
          <dd><code>${link.destinationAddress}</code></dd>
          ${renderTokenContract(token, localization)}
        </dl>
        ${
          "instructions" in instructionsResult && "steps" in instructionsResult.instructions
            ? renderInstructions(instructionsResult.instructions, token, localization)
            : undefined
        }
      </details>
      ${renderReceiptLink(dependencies, page)} ${renderProfile(link.owner)}
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
    ? html`<p class="notice">${texts.unverified}</p>`
    : undefined;

/**
 * Renders the link's state. For a link that can be paid and does not have any payments yet, nothing
 * is rendered, because the pay button is enough.
 */
const renderState = (page: CheckoutPage): Html | undefined => {
  const { badge, badgeText, text } = getStateView(page);
  if (text === undefined) return undefined;
  return html`<p class="state while-payable">
    <span class="badge ${badge}">${badgeText}</span> ${text}
  </p>`;
};

/**
 * Renders a notice about money that arrived in a token that is easily mistaken for the link's own.
 * Without it, the payer would keep waiting.
 */
const renderWrongTokenNotice = ({
  token,
  wrongToken,
  localization,
}: CheckoutPage): Html | undefined => {
  if (wrongToken === undefined) return undefined;
  const { amount, sourceTransaction, symbol: wrongSymbol } = wrongToken;
  const { language, texts } = localization;
  return html`<p class="state">
    ${fillHtml(texts.wrongToken, {
      amount: renderAmount(amount, language),
      wrong: wrongSymbol,
      symbol: token.symbol,
      hash: html`<code>${sourceTransaction}</code>`,
    })}
  </p>`;
};

/** Renders a countdown to the expiry, but only for a link that accepts payments. */
const renderExpiryCountdown = (page: CheckoutPage): Html | undefined =>
  getStateView(page).badge === "active"
    ? renderExpiry({ ...page, expiresAt: page.link.expiresAt })
    : undefined;

type StateView = { badge: LinkStatus; badgeText: string; text: Html | string | undefined };

const getStateView = (page: CheckoutPage): StateView => {
  const { link, token, status, instructionsResult } = page;
  const { badges, states, unpayable } = page.localization.texts;
  if ("instructions" in instructionsResult) return getOpenState(page);
  switch (instructionsResult.reason) {
    case "completed": {
      const isPaid = getRemainingAmount(link).isZero();
      const text = isPaid
        ? states.completed
        : fillHtml(states.paymentLimitReached, formatAmounts(page));
      return { badge: status, badgeText: badges.completed, text };
    }
    case "expired":
    case "inactive":
      return {
        badge: status,
        badgeText: badges[instructionsResult.reason],
        text: states[instructionsResult.reason],
      };
    case "account_suspended":
      return { badge: "inactive", badgeText: badges.suspended, text: states.suspended };
    case "chain_not_watched":
    case "no_fee_proxy":
    case "amount_not_payable":
    case "destination_not_payable": {
      const openState = getOpenState(page);
      if (link.receivedAmount !== "0" && getUnsendableRemainder(link, token) !== undefined) {
        const values = { ...formatAmounts(page), chain: token.chain.name };
        return { ...openState, text: fillHtml(states.remainderTooSmall, values) };
      }
      const explanation = fillPlaceholders(unpayable[instructionsResult.reason], {
        chain: token.chain.name,
      });
      return { ...openState, text: html`${openState.text} ${explanation}` };
    }
  }
};

const getOpenState = (page: CheckoutPage): StateView => {
  const { badges, states } = page.localization.texts;
  const hasNoPayments = page.link.receivedAmount === "0";
  const text = hasNoPayments ? undefined : fillHtml(states.partial, formatAmounts(page));
  return { badge: "active", badgeText: badges.active, text };
};

const formatAmounts = ({ link, token: { symbol }, localization: { language } }: CheckoutPage) => ({
  asked: renderAmount(link.toAmount, language),
  received: renderAmount(link.receivedAmount, language),
  remaining: renderAmount(formatAmount(getRemainingAmount(link)), language),
  symbol,
});

const formatUsage = (
  { currentUsage, maxUsage }: OwnedLinkView,
  { texts }: Localization,
): string | undefined =>
  maxUsage === null
    ? undefined
    : fillPlaceholders(texts.labels.usage, { count: String(currentUsage), most: String(maxUsage) });

const renderReceiptLink = (
  dependencies: Dependencies,
  { link, localization: { texts } }: CheckoutPage,
): Html | undefined => {
  const { status, lastTransactionId } = link;
  if (status !== "completed" || lastTransactionId === null) return undefined;
  const url = buildTransactionPageUrl(dependencies.checkoutUrl, lastTransactionId);
  return html`<p><a href="${url}">${texts.lastReceipt}</a></p>`;
};
