import type { Request, Response } from "express";
import { ApiError, createApiError, isEmailAddress } from "@payment-links/contracts";
import {
  createAddressBucket,
  createCookiePolicy,
  readForm,
  rejectCrossSiteRequest,
  takeTokens,
} from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { isObserved } from "../domain/payment.ts";
import {
  type Receipt,
  offersEmail,
  requireReceipt,
  sendReceiptPage,
} from "./get-transaction-page.ts";
import type { ReceiptFormState } from "./render-receipt-form.ts";

/** Longer than the request to auth-keys can take. */
export const receiptResponseMsMax = 12_000;

const secondsPerHour = 3_600;
/**
 * The receipts by email per source address and per payment, so that no one can flood an address.
 */
const addressLimit = {
  policy: "receipts",
  limit: { tokensPerSecond: 10 / secondsPerHour, burst: 10 },
};
const paymentLimit = { tokensPerSecond: 3 / secondsPerHour, burst: 3 };

const statusByResult = { invalid: 422, rejected: 422, tooMany: 429, failed: 503 } as const;

/**
 * POST /tx/:id: sends the receipt of an applied payment to the address in the form. The address is
 * neither stored nor logged. If the receipt was not sent, the page shows why and keeps the address.
 */
export const sendReceipt = (dependencies: Dependencies) => {
  const cookiePolicy = createCookiePolicy(dependencies.checkoutUrl);
  return async (req: Request, res: Response): Promise<void> => {
    rejectCrossSiteRequest(req, cookiePolicy);
    const receipt = await requireReceipt(dependencies, req);
    if (!offersEmail(dependencies, receipt)) throw createApiError("EMAIL_UNAVAILABLE");
    const address = ((await readForm(req)).get("address") ?? "").trim();
    const result = await sendTo(dependencies, { req, res, receipt, address });
    if (result === "sent") {
      // A reload of the page that follows does not send the receipt again.
      res.redirect(303, `/tx/${receipt.payment.id}?receipt=sent#email`);
      return;
    }
    const formState = { result, address };
    sendReceiptPage(dependencies, { res, receipt, formState, status: statusByResult[result] });
  };
};

type Submission = { req: Request; res: Response; receipt: Receipt; address: string };

const sendTo = async (
  dependencies: Dependencies,
  { req, res, receipt, address }: Submission,
): Promise<NonNullable<ReceiptFormState["result"]>> => {
  if (!isEmailAddress(address)) return "invalid";
  const { payment, link, localization } = receipt;
  try {
    await takeTokens(dependencies, res, [
      createAddressBucket(dependencies, req, addressLimit),
      { policy: "receipts-payment", id: payment.id, limit: paymentLimit },
    ]);
  } catch (error) {
    if (error instanceof ApiError && error.status === 429) return "tooMany";
    throw error;
  }
  try {
    const { outcome } = await dependencies.sendReceipt({
      to: address,
      language: localization.language,
      paymentId: payment.id,
      shop: link.owner.username,
      description: link.description,
      amount: payment.amount,
      chainId: payment.chainId,
      tokenAddress: payment.tokenAddress,
      paidAt: payment.occurredAt,
      sourceTransaction: payment.sourceTransaction,
      isObserved: isObserved(payment),
    });
    return outcome;
  } catch (error) {
    dependencies.log.warn({ err: error }, "receipt could not be sent");
    return "failed";
  }
};
