import type { Request, Response } from "express";
import { type CatalogueChain, Decimal, buildCheckoutPageUrl } from "@payment-links/contracts";
import { type Html, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { type PendingPayment, findAppliedPayment } from "../store/payments.ts";
import { readLink } from "../store/read-link.ts";
import { statusAt } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import { type NoInstructionsReason, getRemainingAmount } from "../domain/payment-instructions.ts";
import { buildTransactionRequestUrl } from "../domain/solana-request.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { sendPage } from "./send-page.ts";
import { groupDigits } from "./render-amount.ts";
import { type CheckoutPage, renderCheckout } from "./render-checkout.ts";
import { renderExchangeOption } from "./render-exchange-option.ts";
import { renderFollowSection } from "./render-follow-section.ts";
import { renderPaymentOptions } from "./render-payment-options.ts";
import { isTronWeb, renderCallOptions, renderPaymentSection } from "./render-payment-section.ts";
import { renderRequestOptions } from "./render-request-options.ts";
import { toPlainLine, renderPreview } from "./render-preview.ts";
import { type CheckoutState, isPaid } from "./render-state.ts";
import { fillPlaceholders, getLocalization } from "./localization.ts";

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
    const [instructionsResult, wrongToken, lastPayment] = await Promise.all([
      dependencies.getPaymentInstructions(link, { now }),
      dependencies.findWrongToken(link),
      findLastPayment(dependencies, link),
    ]);
    const localization = getLocalization(req);
    const page = {
      link,
      token: tokenData,
      instructionsResult,
      wrongToken,
      lastPayment,
      status: statusAt(link, now),
      isCovered: "instructions" in instructionsResult && isAmountPending(link, pendingPayments),
      now,
      localization,
    };
    const title = buildTitle(page);
    const head = renderLinkPreview(dependencies, link, title);
    const { paymentSection, paymentOptions, ...delivery } = buildPaymentView(dependencies, {
      page,
      pendingPayments,
      chain: token.chain,
    });
    const views = { paymentSection, paymentOptions };
    const body = renderCheckout(dependencies, { ...page, ...views }, token.chain);
    sendPage(res, { language: localization.language, title, head, body, ...delivery });
  };

/** Finds the payment with which a link received its whole amount. */
const findLastPayment = async (
  { pool }: Dependencies,
  link: OwnedLinkView,
): Promise<Payment | undefined> =>
  isPaid({ status: link.status, link }) && link.lastTransactionId !== null
    ? findAppliedPayment(pool, link.lastTransactionId)
    : undefined;

/** The parts of the page in which the payer pays, and the headers and the script that they need. */
type PaymentView = Pick<CheckoutPage, "paymentSection" | "paymentOptions"> &
  Pick<Parameters<typeof sendPage>[1], "script" | "policy" | "connectSources">;

type PaymentViewOptions = {
  page: Omit<CheckoutPage, "paymentSection" | "paymentOptions">;
  pendingPayments: readonly PendingPayment[];
  chain: CatalogueChain;
};

const buildPaymentView = (
  dependencies: Dependencies,
  { page, pendingPayments, chain }: PaymentViewOptions,
): PaymentView => {
  const { link, token, status, instructionsResult, isCovered, localization } = page;
  const followOptions = { link, status, pendingPayments, token };
  const policy = "scripted";
  if ("reason" in instructionsResult) {
    const { reason } = instructionsResult;
    if (isFinished(reason, pendingPayments)) {
      return { paymentSection: undefined, paymentOptions: undefined, script: "page.js", policy };
    }
    const paymentSection = renderFollowSection({ ...followOptions, reason }, localization);
    return { paymentSection, paymentOptions: undefined, script: "followed.js", policy };
  }
  const { instructions } = instructionsResult;
  const linkId = link.id;
  const { checkoutUrl } = dependencies;
  const pageUrl = buildCheckoutPageUrl(checkoutUrl, link.owner.handle, linkId);
  const isTransferTracked = dependencies.transferChains.has(chain.id);
  const exchangeOptions = { ...link, instructions, token, chain, isTransferTracked };
  const exchange = renderExchangeOption(exchangeOptions, localization);
  if (!("steps" in instructions)) {
    const paymentSection = renderFollowSection({ ...followOptions, reason: null }, localization);
    const requestUrl = buildTransactionRequestUrl(checkoutUrl, linkId, instructions);
    const requestOptions = { linkId, pageUrl, chain, requestUrl, instructions, token };
    const options = { ...renderRequestOptions(requestOptions, localization), exchange };
    const paymentOptions = isCovered ? undefined : renderPaymentOptions(options, localization);
    return { paymentSection, paymentOptions, script: "followed.js", policy };
  }
  const state = `${status} ${link.receivedAmount} null`;
  const sectionOptions = { linkId, state, instructions, pendingPayments, token, chain };
  const callOptions = { linkId, pageUrl, instructions, token, chain };
  const options = { ...renderCallOptions(callOptions, localization), exchange };
  return {
    paymentSection: renderPaymentSection(sectionOptions, localization),
    paymentOptions: renderPaymentOptions(options, localization),
    script: isTronWeb(chain) ? "tron.js" : "checkout.js",
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
}: Pick<CheckoutState, "link" | "token" | "localization">): string => {
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
