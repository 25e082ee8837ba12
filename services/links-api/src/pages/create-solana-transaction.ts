import type { Request, Response } from "express";
import {
  type SolanaTokenTransfer,
  encodeSolanaPayment,
  getFamily,
  isSolanaTokenTransfer,
} from "@payment-links/chains";
import {
  type CatalogueToken,
  Decimal,
  type ApiErrorCode,
  SolanaTransactionBody,
  createApiError,
  formatAmount,
} from "@payment-links/contracts";
import { sendJson, readJsonBody, parsePathParameter } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import {
  type NoInstructionsReason,
  type PaymentInstructions,
  getPayerMessage,
} from "../domain/payment-instructions.ts";
import { type NoTransactionReason, findNoTransactionReason } from "../domain/solana-request.ts";
import { sumPendingPayments } from "../store/payments.ts";
import { readLink } from "../store/read-link.ts";
import { createWalletError } from "./send-wallet-error.ts";
import { getTexts } from "./languages.ts";
import type { Texts } from "./languages/en.ts";
import { fillPlaceholders } from "./localization.ts";

/**
 * The maximum number of transactions that a process builds concurrently. settlement-listener has the
 * same limit. Requests above it are rejected before they use the database. Otherwise, the bursts of
 * many addresses would delay all other callers by a second.
 */
const concurrentTransactionsMax = 8;

/**
 * POST /checkout/solana/:id: returns an unsigned transaction that pays the remaining amount of a
 * link from an account. If there is an error, the wallet shows its `message` (rule CHAIN-23).
 */
export const createSolanaTransaction = (dependencies: Dependencies) => {
  let activeCount = 0;
  return async (req: Request, res: Response): Promise<void> => {
    const texts = getTexts(req).wallet;
    const linkId = parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK");
    // A slow body must not occupy one of the places.
    const { account } = await readJsonBody(req, SolanaTransactionBody);
    if (activeCount >= concurrentTransactionsMax) throw createApiError("429");
    activeCount += 1;
    try {
      const response = await buildTransaction(dependencies, { account, linkId, texts });
      res.vary("Accept-Language");
      sendJson(res, 200, response);
    } finally {
      activeCount -= 1;
    }
  };
};

const buildTransaction = async (
  dependencies: Dependencies,
  { account, linkId, texts }: { account: string; linkId: string; texts: Texts["wallet"] },
): Promise<{ transaction: string; message?: string }> => {
  const [link, pendingAmount] = await Promise.all([
    readLink(dependencies, linkId),
    sumPendingPayments(dependencies.pool, linkId),
  ]);
  const { token } = dependencies.getToken(link.tokenId);
  const instructionsResult = await dependencies.getPaymentInstructions(link, {
    now: dependencies.clock.now(),
  });
  if (!getFamily(token.chain.chainType).hasTransactionRequests)
    throw createWalletError("NOT_FOUND", texts.elsewhere);
  if ("reason" in instructionsResult)
    throw createInstructionsError(instructionsResult.reason, texts);
  const { instructions } = instructionsResult;
  if (!isSolanaTokenTransfer(instructions)) throw createWalletError("NOT_FOUND", texts.elsewhere);
  const reason = findNoTransactionReason(instructions, { account, pendingAmount });
  if (reason !== undefined) throw createWalletError(payerErrorCodes[reason], texts[reason]);
  const accountState = await fetchAccountState(dependencies, instructions, {
    account,
    token,
    texts,
  });
  const transaction = encodeSolanaPayment({
    ...accountState,
    payer: account,
    recipient: instructions.recipient,
    mint: instructions.splToken,
    tokenProgram: instructions.tokenProgram,
    amount: instructions.amountBaseUnits,
    decimals: token.decimals,
    reference: instructions.reference,
    memo: link.id,
  });
  const message = getPayerMessage(link);
  return { transaction, ...(message === undefined ? {} : { message }) };
};

const fetchAccountState = async (
  { fetchSolanaAccountState, log }: Dependencies,
  { amount, amountBaseUnits, recipient, splToken }: PaymentInstructions & SolanaTokenTransfer,
  { account, token, texts }: { account: string; token: CatalogueToken; texts: Texts["wallet"] },
) => {
  const { chainId } = token;
  const stateRequest = { chainId, tokenAddress: splToken, payer: account, owner: recipient };
  const accountState = await fetchSolanaAccountState(stateRequest).catch((error: unknown) => {
    log.warn({ err: error, chain: chainId }, "Solana account state unavailable");
    throw createWalletError("SERVICE_UNAVAILABLE", texts.away);
  });
  if (accountState === undefined) throw createWalletError("SERVICE_UNAVAILABLE", texts.away);
  if (accountState.isTokenProgramAccount) throw createWalletError("NOT_FOUND", texts.lost);
  if (BigInt(accountState.payerAmount) >= amountBaseUnits) return accountState;
  const balance = new Decimal(`${accountState.payerAmount}e-${token.decimals}`);
  const textValues = { amount: formatAmount(amount), balance: formatAmount(balance) };
  const { balance_too_low: textTemplate } = texts;
  throw createWalletError(
    "BALANCE_TOO_LOW",
    fillPlaceholders(textTemplate, { ...textValues, symbol: token.symbol }),
  );
};

const payerErrorCodes: Readonly<Record<NoTransactionReason, ApiErrorCode>> = {
  own_account: "PAYER_IS_OWNER",
  payment_seen: "PAYMENT_SEEN",
  balance_too_low: "BALANCE_TOO_LOW",
};

const createInstructionsError = (reason: NoInstructionsReason, texts: Texts["wallet"]) => {
  switch (reason) {
    case "completed":
    case "expired":
    case "inactive":
      return createWalletError("PAYMENT_LINK_NOT_ACTIVE", texts[reason]);
    case "account_suspended":
      return createWalletError("ACCOUNT_SUSPENDED", texts.held);
    case "destination_not_payable":
      return createWalletError("NOT_FOUND", texts.lost);
    case "chain_not_watched":
    case "no_fee_proxy":
    case "amount_not_payable":
      return createWalletError("NOT_FOUND", texts.elsewhere);
  }
};
