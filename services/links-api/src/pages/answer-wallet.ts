import type { Request, Response } from "express";
import { Refusal, type RefusalCode, statusOf } from "@payment-links/contracts";
import { type Language, answerRefusal, chooseLanguage } from "@payment-links/http";
import { type WalletTexts, walletTexts } from "./wallet-texts.ts";
import { walletTextsGerman } from "./wallet-texts-german.ts";

const all: Readonly<Record<Language, WalletTexts>> = { en: walletTexts, de: walletTextsGerman };

/** What a wallet says to its person, in the language that it asks for. */
export const walletTextsFor = (req: Request): WalletTexts => all[chooseLanguage(req)];

/** A refusal in words that a wallet shows. */
export const refuseWallet = (code: RefusalCode, message: string): Refusal =>
  new Refusal(statusOf(code), [{ message, code }]);

/** Refusals that were not written for a person with a wallet. */
const words: Readonly<Partial<Record<string, keyof WalletTexts>>> = {
  CANNOT_FIND_PAYMENT_LINK: "unknown",
  SERVICE_UNAVAILABLE: "away",
  INTERNAL_ERROR: "failed",
  "429": "tooMany",
};
const unreadable = 422;

/** Answers a refusal as Solana Pay 1.1 has it, with `message`, beside the error envelope. */
export const answerWalletRefusal = (refusal: Refusal, req: Request, res: Response): void => {
  const texts = walletTextsFor(req);
  const { code, message } = refusal.entries[0] ?? { code: "", message: "" };
  const name = refusal.status === unreadable ? "noAccount" : words[code];
  res.vary("Accept-Language");
  answerRefusal(refusal, res, { message: name === undefined ? message : texts[name] });
};
