import type { Request, Response } from "express";
import {
  type LinkStatus,
  type TokenData,
  checkoutPageUrl,
  isId,
  refuse,
  transactionPageUrl,
} from "@payment-links/contracts";
import { readParam, type Html, html } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { statusAt } from "../domain/link.ts";
import { instructPayer } from "../domain/payment-instructions.ts";
import type { OwnedLinkView } from "../domain/link-view.ts";
import { answerPage } from "./answer-page.ts";
import { assetUrl } from "./assets.ts";
import { showInstructions } from "./show-instructions.ts";
import { showOwner } from "./show-owner.ts";
import { showTime } from "./show-time.ts";
import { showToken } from "./show-token.ts";

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
    const { settlementChains } = deps;
    const wish = { amount: undefined, settlementChains, now: deps.clock.now() };
    const advice = instructPayer(link, token, wish);
    const pay =
      "instructions" in advice ? showInstructions(linkId, advice.instructions, shown) : undefined;
    answerPage(res, {
      title: `${link.toAmount} ${shown.symbol} to ${link.owner.username}`,
      body: showCheckout(deps, link, { token: shown, pay }),
      // A link that cannot be paid here needs no script to follow it.
      ...(pay === undefined ? {} : { head: script, policy: "scripted" }),
    });
  };

const script = html`<script type="module" src="${assetUrl("checkout.js")}"></script> `;

const states: Readonly<Record<LinkStatus, { word: string; text: string }>> = {
  active: { word: "Active", text: "This payment link is open." },
  completed: { word: "Completed", text: "This payment link has been paid. Do not pay it again." },
  inactive: {
    word: "Inactive",
    text: "This payment link no longer takes payments. Do not send anything to it.",
  },
};

/** The account is suspended; the link itself may be payable again some day. */
const heldState = {
  word: "On hold",
  text: "This payment link takes no payments right now. Do not send anything to it.",
};

const showCheckout = (
  deps: Deps,
  link: OwnedLinkView,
  { token, pay }: { token: TokenData; pay: Html | undefined },
): Html => {
  const status = statusAt(link, deps.clock.now());
  const isHeld = status === "active" && link.owner.isSuspended === true;
  const state = isHeld ? heldState : states[status];
  return html`<main class="card">
    ${showOwner(link.owner)}
    <h1 class="amount">${link.toAmount} <span class="unit">${token.symbol}</span></h1>
    <p class="state">
      <span class="badge ${isHeld ? "inactive" : status}">${state.word}</span> ${state.text}
    </p>
    ${link.description === null ? undefined : html`<p class="description">${link.description}</p>`}
    <dl>
      ${showToken(token)}
      <dt>Settles to</dt>
      <dd><code>${link.destinationAddress}</code></dd>
      <dt>Received</dt>
      <dd>${link.receivedAmount} ${token.symbol}${showUsage(link)}</dd>
      ${
        link.expiresAt === null
          ? undefined
          : html`<dt>Expires</dt>
              <dd>${showTime(link.expiresAt)}</dd>`
      }
    </dl>
    ${pay} ${showReceipt(deps, link)}
  </main>`;
};

const showUsage = ({ currentUsage, maxUsage }: OwnedLinkView): Html | undefined =>
  maxUsage === null ? undefined : html`, in ${currentUsage} of at most ${maxUsage} payments`;

const showReceipt = (deps: Deps, { status, lastTransactionId }: OwnedLinkView): Html | undefined =>
  status === "completed" && lastTransactionId !== null
    ? html`<p>
        <a href="${transactionPageUrl(deps.checkoutUrl, lastTransactionId)}"
          >Receipt of the last payment</a
        >
      </p>`
    : undefined;
