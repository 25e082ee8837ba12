import { createContext } from "react";
import { ApiError } from "../api/api-error.ts";
import { getErrorText } from "./error-text.ts";

/** The errors of a form by the names of its fields. */
type FieldErrors = Readonly<Record<string, string>>;

export const noFieldErrors: FieldErrors = {};
export const FieldErrorsContext = createContext(noFieldErrors);

/** The field that each error is about. An API error does not name its field (rule VALID-1). */
const fieldsByCode: Readonly<Record<string, string>> = {
  HANDLE_TAKEN: "handle",
  HANDLE_LIMIT: "handle",
  INVALID_HANDLE: "handle",
  INVALID_IMAGE: "picture",
  IMAGE_TOO_MANY_PIXELS: "picture",
  PAYLOAD_TOO_LARGE: "picture",
  WALLET_EXISTS: "walletAddress",
  INVALID_WALLET_ADDRESS: "walletAddress",
  SOLANA_WALLET_REQUIRED: "walletAddress",
  BITCOIN_KEY_REQUIRED: "walletAddress",
  PRIVATE_KEY_REFUSED: "walletAddress",
  INVALID_WEBHOOK_URL: "url",
  url_scheme: "returnUrl",
  INVALID_PAYMENT_LINK_AMOUNT: "toAmount",
  AMOUNT_NOT_PAYABLE: "toAmount",
  decimal_parsing: "amount",
  decimal_max_digits: "amount",
  decimal_max_places: "amount",
  greater_than: "amount",
  INVALID_TRANSACTION_ID: "transactionId",
};

/**
 * Returns the error at its field and moves the focus there, so that it is seen and read aloud.
 * Returns undefined if the form has no such field.
 */
export const findFieldErrors = (error: unknown, form: HTMLFormElement): FieldErrors | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  const [code = ""] = error.codes;
  const name = fieldsByCode[code];
  const field = name === undefined ? null : form.elements.namedItem(name);
  if (name === undefined || !(field instanceof HTMLElement)) return undefined;
  field.focus();
  return { [name]: getErrorText(error) };
};
