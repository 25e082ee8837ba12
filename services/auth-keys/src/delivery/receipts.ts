import { randomUUID } from "node:crypto";
import { type ReceiptContext, composeReceipt } from "../domain/compose-receipt.ts";
import { SmtpError } from "../domain/smtp-error.ts";
import type { SendEmail } from "./smtp.ts";

/** The time for one receipt. A payer waits for it. */
export const receiptTimeoutMs = 8_000;

/** The maximum number of receipts that one process sends at the same time. */
const receiptsMax = 10;

type Receipt = Parameters<typeof composeReceipt>[0];

type ReceiptSenderOptions = ReceiptContext & {
  sendEmail: SendEmail;
  counters: { countReceipt(outcome: "sent" | "rejected" | "failed"): void };
};

/**
 * Creates the function that sends a receipt immediately. Nothing about it is stored or logged here.
 * Throws if the SMTP server does not accept it, unless it permanently rejects the address.
 */
export const createReceiptSender = ({ sendEmail, counters, ...context }: ReceiptSenderOptions) => {
  let sendingCount = 0;
  const send = async (receipt: Receipt): Promise<"sent" | "rejected"> => {
    const email = { ...composeReceipt(receipt, context), id: randomUUID(), to: receipt.to };
    try {
      await sendEmail(email);
      return "sent";
    } catch (error) {
      if (error instanceof SmtpError && error.isPermanent) return "rejected";
      throw error;
    }
  };
  return async (receipt: Receipt): Promise<{ outcome: "sent" | "rejected" }> => {
    try {
      if (sendingCount >= receiptsMax) throw new Error("too many receipts at the same time");
      sendingCount += 1;
      const outcome = await send(receipt).finally(() => (sendingCount -= 1));
      counters.countReceipt(outcome);
      return { outcome };
    } catch (error) {
      counters.countReceipt("failed");
      throw error;
    }
  };
};
