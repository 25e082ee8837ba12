import type { Request, Response } from "express";
import { ApiError, type ApiErrorCode, getApiErrorStatus } from "@payment-links/contracts";
import { type Language, sendApiError, negotiateLanguage } from "@payment-links/http";
import { type WalletTexts, walletTexts } from "./wallet-texts.ts";
import { walletTextsGerman } from "./wallet-texts-german.ts";

const textsByLanguage: Readonly<Record<Language, WalletTexts>> = {
  en: walletTexts,
  de: walletTextsGerman,
};

/** What a wallet says to its person, in the language that it asks for. */
export const getWalletTexts = (req: Request): WalletTexts =>
  textsByLanguage[negotiateLanguage(req)];

/** A refusal in words that a wallet shows. */
export const createWalletError = (code: ApiErrorCode, message: string): ApiError =>
  new ApiError(getApiErrorStatus(code), [{ message, code }]);

/** Refusals that were not written for a person with a wallet. */
const textNamesByCode: Readonly<Partial<Record<string, keyof WalletTexts>>> = {
  CANNOT_FIND_PAYMENT_LINK: "unknown",
  SERVICE_UNAVAILABLE: "away",
  INTERNAL_ERROR: "failed",
  "429": "tooMany",
};
const validationErrorStatus = 422;

/** Answers a refusal as Solana Pay 1.1 has it, with `message`, beside the error envelope. */
export const sendWalletError = (apiError: ApiError, req: Request, res: Response): void => {
  const texts = getWalletTexts(req);
  const { code, message } = apiError.entries[0] ?? { code: "", message: "" };
  const textName = apiError.status === validationErrorStatus ? "noAccount" : textNamesByCode[code];
  res.vary("Accept-Language");
  sendApiError(apiError, res, { message: textName === undefined ? message : texts[textName] });
};
