import * as z from "zod";
import { isEmailAddress } from "./email-address.ts";
import { Id, isId } from "./ids.ts";
import { Instant } from "./instant.ts";
import { Amount } from "./money.ts";

/** The languages of receipts, named as in `<html lang>`. */
export const receiptLanguages = ["en", "de", "es", "fr", "it", "ja", "pt-BR", "zh-Hans"] as const;
export type ReceiptLanguage = (typeof receiptLanguages)[number];

/**
 * The request of links-api to auth-keys to send a payment's receipt. It contains no text of the email
 * and no URL, so that links-api cannot send anything but a receipt.
 */
export const ReceiptEmail = z.object({
  to: z.string().refine(isEmailAddress),
  language: z.enum(receiptLanguages),
  paymentId: Id.refine((id) => isId("tx", id)),
  /** The name of the shop and the description of the link, as their owner wrote them. */
  shop: z.string(),
  description: z.string().nullable(),
  amount: Amount,
  chainId: z.string(),
  tokenAddress: z.string(),
  paidAt: Instant,
  sourceTransaction: z.string().nullable(),
  /** Whether we found the transaction on the chain ourselves, so that its explorer knows it. */
  isObserved: z.boolean(),
});
export type ReceiptEmail = z.output<typeof ReceiptEmail>;

/** How an attempt to send a receipt ended. `rejected` means that the address cannot receive it. */
export const ReceiptResult = z.object({ outcome: z.enum(["sent", "rejected"]) });
export type ReceiptResult = z.output<typeof ReceiptResult>;

/** Sends a receipt now. Rejects if it could not be sent for any other reason than its address. */
export type SendReceipt = (receipt: ReceiptEmail) => Promise<ReceiptResult>;
