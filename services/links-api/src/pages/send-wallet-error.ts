import type { Request, Response } from "express";
import { ApiError, type ApiErrorCode, getApiErrorStatus } from "@payment-links/contracts";
import { sendApiError } from "@payment-links/http";
import { getTexts } from "./languages.ts";
import type { Texts } from "./languages/en.ts";

/** Creates an error with a message that the wallet shows. */
export const createWalletError = (code: ApiErrorCode, message: string): ApiError =>
  new ApiError(getApiErrorStatus(code), [{ message, code }]);

/** The wallet texts for errors whose own messages are not meant for payers. */
const textNamesByCode: Readonly<Partial<Record<string, keyof Texts["wallet"]>>> = {
  CANNOT_FIND_PAYMENT_LINK: "unknown",
  SERVICE_UNAVAILABLE: "away",
  INTERNAL_ERROR: "failed",
  "429": "tooMany",
};
const validationErrorStatus = 422;

/** Sends the API's error response with an additional `message`, which Solana Pay 1.1 requires. */
export const sendWalletError = (apiError: ApiError, req: Request, res: Response): void => {
  const texts = getTexts(req).wallet;
  const { code, message } = apiError.entries[0] ?? { code: "", message: "" };
  const textName = apiError.status === validationErrorStatus ? "noAccount" : textNamesByCode[code];
  res.vary("Accept-Language");
  sendApiError(apiError, res, { message: textName === undefined ? message : texts[textName] });
};
