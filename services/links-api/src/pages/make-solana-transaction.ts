import type { Request, Response } from "express";
import {
  type CatalogueToken,
  Decimal,
  type RefusalCode,
  SolanaTransactionBody,
  formatAmount,
} from "@payment-links/contracts";
import { answerJson, readBody, readParam } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { type NoInstructionsReason, payerMessage } from "../domain/payment-instructions.ts";
import {
  type NoTransactionReason,
  type SolanaInstructions,
  isPaidOnSolana,
  refusePayer,
} from "../domain/solana-request.ts";
import { encodeSolanaPayment } from "../domain/solana-transaction.ts";
import { sumPendingPayments } from "../store/payments.ts";
import { readLink } from "../store/read-link.ts";
import { refuseWallet, walletTextsFor } from "./answer-wallet.ts";
import type { WalletTexts } from "./wallet-texts.ts";
import { fill } from "./words.ts";

/**
 * POST /checkout/solana/:id: the transaction by which an account pays what remains of a link, unsigned.
 * Its wallet shows the message of a refusal (rule CHAIN-23).
 */
export const makeSolanaTransaction =
  (deps: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const texts = walletTextsFor(req);
    const linkId = readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    const { account } = await readBody(req, SolanaTransactionBody);
    const [link, pending] = await Promise.all([
      readLink(deps, linkId),
      sumPendingPayments(deps.pool, linkId),
    ]);
    const { token } = deps.tokenOf(link.tokenId);
    const advice = await deps.advisePayer(link, { now: deps.clock.now() });
    if (token.chain.chainType !== "SVM") throw refuseWallet("NOT_FOUND", texts.elsewhere);
    if ("reason" in advice) throw refuseFor(advice.reason, texts);
    const { instructions } = advice;
    if (!isPaidOnSolana(instructions)) throw refuseWallet("NOT_FOUND", texts.elsewhere);
    const reason = refusePayer(instructions, { account, pending });
    if (reason !== undefined) throw refuseWallet(payerCodes[reason], texts[reason]);
    const facts = await askFacts(deps, instructions, { account, token, texts });
    const transaction = encodeSolanaPayment({
      ...facts,
      payer: account,
      recipient: instructions.recipient,
      mint: instructions.splToken,
      tokenProgram: instructions.tokenProgram,
      amount: instructions.amountBaseUnits,
      decimals: token.decimals,
      reference: instructions.reference,
      memo: link.id,
    });
    const message = payerMessage(link);
    res.vary("Accept-Language");
    answerJson(res, 200, { transaction, ...(message === undefined ? {} : { message }) });
  };

const askFacts = async (
  { askSolana, log }: Deps,
  { amount, amountBaseUnits, recipient, splToken }: SolanaInstructions,
  { account, token, texts }: { account: string; token: CatalogueToken; texts: WalletTexts },
) => {
  const { chainId } = token;
  const question = { chainId, tokenAddress: splToken, payer: account, owner: recipient };
  const facts = await askSolana(question).catch((error: unknown) => {
    log.warn({ err: error, chain: chainId }, "nobody tells what stands on Solana");
    throw refuseWallet("SERVICE_UNAVAILABLE", texts.away);
  });
  if (facts === undefined) throw refuseWallet("SERVICE_UNAVAILABLE", texts.away);
  if (facts.isTokenProgramAccount) throw refuseWallet("NOT_FOUND", texts.lost);
  if (BigInt(facts.payerAmount) >= amountBaseUnits) return facts;
  const balance = new Decimal(`${facts.payerAmount}e-${token.decimals}`);
  const told = { amount: formatAmount(amount), balance: formatAmount(balance) };
  const { balance_too_low: text } = texts;
  throw refuseWallet("BALANCE_TOO_LOW", fill(text, { ...told, symbol: token.symbol }));
};

const payerCodes: Readonly<Record<NoTransactionReason, RefusalCode>> = {
  own_account: "PAYER_IS_OWNER",
  payment_seen: "PAYMENT_SEEN",
  balance_too_low: "BALANCE_TOO_LOW",
};

const refuseFor = (reason: NoInstructionsReason, texts: WalletTexts) => {
  switch (reason) {
    case "completed":
    case "expired":
    case "inactive":
      return refuseWallet("PAYMENT_LINK_NOT_ACTIVE", texts[reason]);
    case "account_suspended":
      return refuseWallet("ACCOUNT_SUSPENDED", texts.held);
    case "destination_not_payable":
      return refuseWallet("NOT_FOUND", texts.lost);
    case "chain_not_watched":
    case "no_fee_proxy":
    case "amount_not_payable":
      return refuseWallet("NOT_FOUND", texts.elsewhere);
  }
};
