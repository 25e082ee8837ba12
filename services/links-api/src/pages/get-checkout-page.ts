import type { Request, Response } from "express";
import {
  type CatalogueChain,
  type LinkStatus,
  type TokenData,
  checkoutPageUrl,
  formatAmount,
  transactionPageUrl,
} from "@payment-links/contracts";
import { type Html, fillHtml, html, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { readLink } from "../store/read-link.ts";
import { statusAt } from "../domain/link.ts";
import type { Payment } from "../domain/payment.ts";
import {
  type NoInstructionsReason,
  type PayerAdvice,
  remainingAmount,
  unsendableRemainder,
} from "../domain/payment-instructions.ts";
import { transactionRequestUrl } from "../domain/solana-request.ts";
import type { WrongToken } from "../domain/wrong-token.ts";
import { type OwnedLinkView, isVerifiedSeller } from "../domain/link-view.ts";
import { answerPage } from "./answer-page.ts";
import { groupDigits, showAmount } from "./show-amount.ts";
import { showByHand } from "./show-by-hand.ts";
import { showExchange } from "./show-exchange.ts";
import { showExpiry } from "./show-expiry.ts";
import { showFollowed } from "./show-followed.ts";
import { showGround, showOwner, showProfile } from "./show-owner.ts";
import { showInstructions, showPay } from "./show-pay.ts";
import { plainText, showPreview } from "./show-preview.ts";
import { showTestNetwork } from "./show-test-network.ts";
import { showTime } from "./show-time.ts";
import { showContract, showToken } from "./show-token.ts";
import { type Words, fill, wordsFor } from "./words.ts";

/**
 * GET /@:handle/pay/:id: what a payer is asked for, and whether the link still takes payments.
 * Under another handle than its owner's present one it redirects (rule API-9).
 */
export const getCheckoutPage =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const [link, pending] = await Promise.all([
      readLink(deps, linkId),
      deps.listPendingPayments(linkId),
    ]);
    if (readParam(req, "handle") !== link.owner.handle) {
      res.setHeader("Cache-Control", "no-store");
      res.redirect(308, checkoutPageUrl(deps.checkoutUrl, link.owner.handle, linkId));
      return;
    }
    const { token, shown } = deps.tokenOf(link.tokenId);
    const now = deps.clock.now();
    const [advice, wrongToken] = await Promise.all([
      deps.advisePayer(link, { now }),
      deps.findWrongToken(link),
    ]);
    const words = wordsFor(req);
    const { language } = words;
    const page = {
      link,
      token: shown,
      advice,
      wrongToken,
      status: statusAt(link, now),
      now,
      words,
    };
    const title = titleOf(page);
    const preview = showLinkPreview(deps, link, title);
    const answer = { language, title, head: preview };
    if ("reason" in advice) {
      const { status } = page;
      const { reason } = advice;
      const followed = isOver(reason, pending)
        ? undefined
        : showFollowed({ link, status, reason, pending, token: shown }, words);
      const script = followed === undefined ? "page.js" : "followed.js";
      const body = showCheckout(deps, { ...page, pay: followed }, token.chain);
      answerPage(res, { ...answer, script, body, policy: "scripted" });
      return;
    }
    const { instructions } = advice;
    const state = `${page.status} ${link.receivedAmount} null`;
    const { chain } = token;
    const pageUrl = checkoutPageUrl(deps.checkoutUrl, link.owner.handle, linkId);
    const isSeen = deps.transferChains.has(chain.id);
    const exchange = { ...link, instructions, token: shown, chain, isSeen };
    const requestUrl = transactionRequestUrl(deps.checkoutUrl, linkId, instructions);
    const byHand = { linkId, pageUrl, chainId: chain.id, requestUrl, instructions, token: shown };
    if (!("steps" in instructions)) {
      const { status } = page;
      const followed = showFollowed({ link, status, reason: null, pending, token: shown }, words);
      const pay = html`${followed} ${showByHand(byHand, words)} ${showExchange(exchange, words)}`;
      const body = showCheckout(deps, { ...page, pay }, chain);
      answerPage(res, { ...answer, script: "followed.js", body, policy: "scripted" });
      return;
    }
    const part = { linkId, pageUrl, state, instructions, pending, token: shown, chain };
    const isTron = chain.chainType === "TVM";
    const pay = html`${showPay(part, words)} ${isTron ? showByHand(byHand, words) : undefined}
    ${showExchange(exchange, words)}`;
    const body = showCheckout(deps, { ...page, pay }, chain);
    const script = isTron ? "tron.js" : "checkout.js";
    const asked = walletOriginsOf(chain);
    answerPage(res, { ...answer, script, body, policy: "checkout", asked });
  };

/** Where a wallet may read the chain from within the page: at the nodes that the catalogue names for it. */
const walletOriginsOf = ({ publicRpcUrl, walletNodes }: CatalogueChain): readonly string[] => {
  const publicOrigins = publicRpcUrl === undefined ? [] : [new URL(publicRpcUrl).origin];
  return [...new Set([...publicOrigins, ...(walletNodes?.origins ?? [])])];
};

/**
 * Whether nothing can change any more: a completed link stays so, and only of a payment on its way is
 * there anything to tell.
 */
const isOver = (reason: NoInstructionsReason, pending: readonly Payment[]): boolean =>
  reason === "completed" && pending.length === 0;

const titleOf = ({ link, token: { symbol }, words: { language, texts } }: Page): string => {
  const amount = groupDigits(link.toAmount, language);
  return plainText(fill(texts.title, { amount, symbol, owner: link.owner.username }));
};

const showLinkPreview = ({ checkoutUrl }: Deps, link: OwnedLinkView, title: string): Html => {
  const url = checkoutPageUrl(checkoutUrl, link.owner.handle, link.id);
  return showPreview({ ...link, title, url, checkoutUrl });
};

type Page = {
  link: OwnedLinkView;
  token: TokenData;
  status: LinkStatus;
  advice: PayerAdvice;
  /** How to pay, or what is followed where nobody is told that; undefined once all is over. */
  pay?: Html | undefined;
  wrongToken: WrongToken | undefined;
  now: Date;
  words: Words;
};

const showCheckout = (deps: Deps, page: Page, chain: CatalogueChain): Html => {
  const { link, token, advice, pay, words } = page;
  const { language, texts } = words;
  return html`${showGround(link.owner)}
    <main class="card">
      ${showTestNetwork(chain, words)} ${showOwner(link.owner, showUnverified(deps, page))}
      <h1 class="amount">
        ${showAmount(link.toAmount, language)} <span class="unit">${token.symbol}</span>
      </h1>
      ${showState(page)} ${showWrongToken(page)} ${pay} ${showEnd(page)}
      ${link.description === null ? undefined : html`<p class="description" dir="auto">${link.description}</p>`}
      <dl>
        ${showToken(token, words)}
        <dt>${texts.labels.received}</dt>
        <dd>
          ${showAmount(link.receivedAmount, language)} ${token.symbol}${showUsage(link, words)}
        </dd>
        ${
          link.expiresAt === null
            ? undefined
            : html`<dt>${texts.labels.expires}</dt>
                <dd>${showTime(link.expiresAt, language)}</dd>`
        }
      </dl>
      <details id="details">
        <summary>${texts.labels.details}</summary>
        <dl>
          <dt>${texts.labels.settlesTo}</dt>
          <dd><code>${link.destinationAddress}</code></dd>
          ${showContract(token, words)}
        </dl>
        ${
          "instructions" in advice && "steps" in advice.instructions
            ? showInstructions(advice.instructions, token, words)
            : undefined
        }
      </details>
      ${showReceipt(deps, page)} ${showProfile(link.owner)}
    </main>`;
};

/** Warns of a seller whom the operator does not vouch for, where anyone may sign up (rule CALLER-38). */
const showUnverified = (
  { isSignUpOpen }: Deps,
  { link, words: { texts } }: Page,
): Html | undefined =>
  isSignUpOpen && !isVerifiedSeller(link.owner)
    ? html`<p class="notice">${texts.unverified}</p>`
    : undefined;

const showState = (page: Page): Html => {
  const { badge, word, text } = stateOf(page);
  return html`<p class="state until-expiry">
    <span class="badge ${badge}">${word}</span> ${text}
  </p>`;
};

/** What came in a token that is mistaken for the link's: its payer would wait for nothing. */
const showWrongToken = ({ token, wrongToken, words }: Page): Html | undefined => {
  if (wrongToken === undefined) return undefined;
  const { amount, sourceTransaction, symbol: wrong } = wrongToken;
  const { language, texts } = words;
  return html`<p class="state">
    ${fillHtml(texts.wrongToken, {
      amount: showAmount(amount, language),
      wrong,
      symbol: token.symbol,
      hash: html`<code>${sourceTransaction}</code>`,
    })}
  </p>`;
};

/** A link that takes no payments has no end to wait for. */
const showEnd = (page: Page): Html | undefined =>
  stateOf(page).badge === "active"
    ? showExpiry({ ...page, expiresAt: page.link.expiresAt })
    : undefined;

type State = { badge: LinkStatus; word: string; text: Html | string };

const stateOf = (page: Page): State => {
  const { link, token, status, advice } = page;
  const { badges, states, unpayable } = page.words.texts;
  if ("instructions" in advice) return openState(page);
  switch (advice.reason) {
    case "completed": {
      const isPaid = remainingAmount(link).isZero();
      const text = isPaid ? states.completed : fillHtml(states.usedUp, amountsOf(page));
      return { badge: status, word: badges.completed, text };
    }
    case "expired":
    case "inactive":
      return { badge: status, word: badges[advice.reason], text: states[advice.reason] };
    case "account_suspended":
      return { badge: "inactive", word: badges.held, text: states.held };
    case "chain_not_watched":
    case "no_fee_proxy":
    case "amount_not_payable":
    case "destination_not_payable": {
      const open = openState(page);
      if (link.receivedAmount !== "0" && unsendableRemainder(link, token) !== undefined) {
        const missing = { ...amountsOf(page), chain: token.chain.name };
        return { ...open, text: fillHtml(states.remainderTooSmall, missing) };
      }
      const why = fill(unpayable[advice.reason], { chain: token.chain.name });
      return { ...open, text: html`${open.text} ${why}` };
    }
  }
};

const openState = (page: Page): State => {
  const { badges, states } = page.words.texts;
  const isUntouched = page.link.receivedAmount === "0";
  const text = isUntouched ? states.active : fillHtml(states.partial, amountsOf(page));
  return { badge: "active", word: badges.active, text };
};

const amountsOf = ({ link, token: { symbol }, words: { language } }: Page) => ({
  asked: showAmount(link.toAmount, language),
  received: showAmount(link.receivedAmount, language),
  remaining: showAmount(formatAmount(remainingAmount(link)), language),
  symbol,
});

const showUsage = (
  { currentUsage, maxUsage }: OwnedLinkView,
  { texts }: Words,
): string | undefined =>
  maxUsage === null
    ? undefined
    : fill(texts.labels.usage, { count: String(currentUsage), most: String(maxUsage) });

const showReceipt = (deps: Deps, { link, words: { texts } }: Page): Html | undefined => {
  const { status, lastTransactionId } = link;
  if (status !== "completed" || lastTransactionId === null) return undefined;
  const url = transactionPageUrl(deps.checkoutUrl, lastTransactionId);
  return html`<p><a href="${url}">${texts.lastReceipt}</a></p>`;
};
