import type { Request, Response } from "express";
import {
  type CatalogueChain,
  type LinkStatus,
  type TokenData,
  checkoutPageUrl,
  formatAmount,
  isId,
  refuse,
  transactionPageUrl,
} from "@payment-links/contracts";
import { readParam, type Html, html } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { statusAt } from "../domain/link.ts";
import { instructPayer, remainingAmount } from "../domain/payment-instructions.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { answerPage } from "./answer-page.ts";
import { assetUrl } from "./assets.ts";
import { checkoutTexts as texts, fill } from "./checkout-texts.ts";
import { showOwner, showProfile } from "./show-owner.ts";
import { showInstructions, showPay } from "./show-pay.ts";
import { showTestNetwork } from "./show-test-network.ts";
import { showTime } from "./show-time.ts";
import { showContract, showToken } from "./show-token.ts";

/**
 * GET /@:handle/pay/:id: what a payer is asked for, and whether the link still takes payments.
 * Under another handle than its owner's present one it redirects (rule API-9).
 */
export const getCheckoutPage =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const link = isId("plink", linkId) ? await deps.findLinkView(linkId) : undefined;
    if (link === undefined) throw refuse("CANNOT_FIND_PAYMENT_LINK");
    if (readParam(req, "handle") !== link.owner.handle) {
      res.setHeader("Cache-Control", "no-store");
      res.redirect(308, checkoutPageUrl(deps.checkoutUrl, link.owner.handle, linkId));
      return;
    }
    const { token, shown } = deps.tokenOf(link.tokenId);
    const now = deps.clock.now();
    const advice = instructPayer(link, token, {
      amount: undefined,
      settlementChains: deps.settlementChains,
      now,
    });
    const page = { link, token: shown, advice, status: statusAt(link, now) };
    const title = fill(texts.title, {
      amount: link.toAmount,
      symbol: shown.symbol,
      owner: link.owner.username,
    });
    if ("reason" in advice) {
      // A link that cannot be paid here needs no script to follow it.
      answerPage(res, { title, body: showCheckout(deps, page, token.chain) });
      return;
    }
    const { instructions } = advice;
    const pending = await deps.listPendingPayments(linkId);
    const state = `${page.status} ${link.receivedAmount} null`;
    const { publicRpcUrl } = token.chain;
    const pay = showPay({ linkId, state, instructions, pending, token: shown, publicRpcUrl });
    const body = showCheckout(deps, { ...page, pay }, token.chain);
    answerPage(res, { title, body, head: script, policy: "scripted" });
  };

const script = html`<link rel="modulepreload" href="${assetUrl("live.js")}" />
  <script type="module" src="${assetUrl("checkout.js")}"></script> `;

type Page = {
  link: OwnedLinkView;
  token: TokenData;
  status: LinkStatus;
  advice: ReturnType<typeof instructPayer>;
  /** Undefined where nobody is told how to pay. */
  pay?: Html;
};

const showCheckout = (deps: Deps, page: Page, chain: CatalogueChain): Html => {
  const { link, token, advice, pay } = page;
  return html`<main class="card">
    ${showTestNetwork(chain)} ${showOwner(link.owner)}
    <h1 class="amount">${showAmount(link.toAmount)} <span class="unit">${token.symbol}</span></h1>
    ${showState(page)} ${pay}
    ${link.description === null ? undefined : html`<p class="description" dir="auto">${link.description}</p>`}
    <dl>
      ${showToken(token)}
      <dt>${texts.labels.received}</dt>
      <dd>${showAmount(link.receivedAmount)} ${token.symbol}${showUsage(link)}</dd>
      ${
        link.expiresAt === null
          ? undefined
          : html`<dt>${texts.labels.expires}</dt>
              <dd>${showTime(link.expiresAt)}</dd>`
      }
    </dl>
    <details>
      <summary>${texts.labels.details}</summary>
      <dl>
        <dt>${texts.labels.settlesTo}</dt>
        <dd><code>${link.destinationAddress}</code></dd>
        ${showContract(token)}
      </dl>
      ${"instructions" in advice ? showInstructions(advice.instructions, token) : undefined}
    </details>
    ${showReceipt(deps, link)} ${showProfile(link.owner)}
  </main>`;
};

/** The script groups its digits as the reader's language does. */
const showAmount = (amount: string): Html => html`<data value="${amount}">${amount}</data>`;

const showState = (page: Page): Html => {
  const { badge, word, text } = stateOf(page);
  return html`<p class="state"><span class="badge ${badge}">${word}</span> ${text}</p>`;
};

type State = { badge: LinkStatus; word: string; text: string };

const stateOf = ({ link, token, status, advice }: Page): State => {
  const { badges, states, unpayable } = texts;
  if ("instructions" in advice) return openState(link, token);
  switch (advice.reason) {
    case "completed": {
      const isPaid = remainingAmount(link).isZero();
      const text = isPaid ? states.completed : fill(states.usedUp, amountsOf(link, token));
      return { badge: status, word: badges.completed, text };
    }
    case "expired":
    case "inactive":
      return { badge: status, word: badges[advice.reason], text: states[advice.reason] };
    case "account_suspended":
      return { badge: "inactive", word: badges.held, text: states.held };
    case "chain_not_watched":
    case "no_fee_proxy":
    case "amount_not_payable": {
      const open = openState(link, token);
      return {
        ...open,
        text: `${open.text} ${fill(unpayable[advice.reason], { chain: token.chain.name })}`,
      };
    }
  }
};

const openState = (link: OwnedLinkView, token: TokenData): State => ({
  badge: "active",
  word: texts.badges.active,
  text:
    link.receivedAmount === "0"
      ? texts.states.active
      : fill(texts.states.partial, amountsOf(link, token)),
});

const amountsOf = (link: OwnedLinkView, { symbol }: TokenData) => ({
  asked: link.toAmount,
  received: link.receivedAmount,
  remaining: formatAmount(remainingAmount(link)),
  symbol,
});

const showUsage = ({ currentUsage, maxUsage }: OwnedLinkView): string | undefined =>
  maxUsage === null
    ? undefined
    : fill(texts.labels.usage, { count: String(currentUsage), most: String(maxUsage) });

const showReceipt = (deps: Deps, { status, lastTransactionId }: OwnedLinkView): Html | undefined =>
  status === "completed" && lastTransactionId !== null
    ? html`<p>
        <a href="${transactionPageUrl(deps.checkoutUrl, lastTransactionId)}"
          >${texts.lastReceipt}</a
        >
      </p>`
    : undefined;
