import {
  WalletError,
  nothingSentKinds,
} from "@payment-links/chains/browser-wallets/wallet-errors.js";
import { callOperation } from "../../../api/call.ts";
import type { RefundInstructions } from "../../../api/operations.ts";
import { invalidateOperations, queryClient } from "../../../api/query.ts";
import {
  type PendingRefund,
  clearPendingRefund,
  readPendingRefund,
  setWalletAsked,
  storePendingRefund,
} from "./pending-refund.ts";
import type { RefundWallet } from "./refund-wallet.ts";

/** The payment that a refund belongs to. */
export type RefundTarget = { linkId: string; paymentId: string };

/**
 * Asks a wallet to send a refund, and returns it with its transaction id. Stores the request before
 * it asks, so that no reload, tab or click can ask again (rule CALLER-44). If it is certain that
 * nothing was sent, the stored request is removed.
 */
export const sendRefund = async (
  { linkId, paymentId }: RefundTarget,
  wallet: RefundWallet,
  instructions: RefundInstructions,
  onConnected: (account: string) => void,
): Promise<SentRefund> => {
  const account = await wallet.connect(instructions);
  onConnected(account);
  const { amount, destinationAddress } = instructions;
  const ownInstructions =
    instructions.wallet === "wallet-standard"
      ? await callOperation("prepareRefund", {
          path: { id: linkId },
          body: { paymentId, amount, destinationAddress, account },
        })
      : instructions;
  const { candidateId, send } = await wallet.prepare(ownInstructions, account);
  if (readPendingRefund(paymentId) !== undefined) throw new WalletError("busy");
  const pending: PendingRefund = {
    amount,
    destinationAddress,
    ...(candidateId === undefined ? {} : { candidateId }),
  };
  storePendingRefund(paymentId, pending);
  setWalletAsked(paymentId, true);
  try {
    const sent = { ...pending, transactionId: await send() };
    storePendingRefund(paymentId, sent);
    return sent;
  } catch (error) {
    if (!(error instanceof WalletError) || !nothingSentKinds.has(error.kind)) throw error;
    clearPendingRefund(paymentId);
    throw error;
  } finally {
    setWalletAsked(paymentId, false);
  }
};

/** A refund with the id of its transaction. */
export type SentRefund = Pick<PendingRefund, "amount" | "destinationAddress"> & {
  transactionId: string;
};

/** Records a refund, and removes a stored request of the same payment. */
export const recordRefund = async (
  { linkId, paymentId }: RefundTarget,
  { amount, destinationAddress, transactionId }: SentRefund,
): Promise<void> => {
  await callOperation("recordRefund", {
    path: { id: linkId },
    body: { paymentId, amount, destinationAddress, transactionId },
  });
  clearPendingRefund(paymentId);
  await invalidateOperations(queryClient, ["getOwnPaymentLink", "getPaymentLinkStory"]);
};
