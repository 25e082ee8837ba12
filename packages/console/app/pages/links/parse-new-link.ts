import type { NewPaymentLink } from "../../api/operations.ts";
import { parseAmount } from "./parse-amount.ts";

/** The expiry choices of the form: never, a number of days, or a date. */
export const expiryOptions = ["never", "1", "3", "7", "30", "date"] as const;

/** The text keys of the errors in the fields. */
export type NewLinkError = "badAmount" | "pastDate";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** A Bitcoin block takes about 10 minutes, and payments with a low fee wait longer. */
const shortBitcoinExpiryMs = 2 * hourMs;

/** Returns whether the chosen expiry leaves too little time for a payment on Bitcoin. */
export const isShortExpiryOnBitcoin = (expiresAt: string, now: Date): boolean => {
  const remainingMs = new Date(expiresAt).getTime() - now.getTime();
  return remainingMs > 0 && remainingMs < shortBitcoinExpiryMs;
};

type Fields = Readonly<Record<string, string>>;

/**
 * Parses the fields of the new link form. The amount is in the user's locale and can contain the
 * token's symbol. `expiresAt` is in the user's time zone.
 */
export const parseNewLink = (
  fields: Fields,
  symbol: string,
  now: Date,
): NewPaymentLink | NewLinkError => {
  const amount = parseAmount(fields["toAmount"] ?? "", symbol);
  if (amount === undefined) return "badAmount";
  const expiresAt = parseExpiry(fields, now);
  if (expiresAt === "pastDate") return expiresAt;
  return {
    toAmount: amount,
    ...(fields["description"] === undefined ? {} : { description: fields["description"] }),
    ...(fields["maxUsage"] === undefined ? {} : { maxUsage: Number(fields["maxUsage"]) }),
    ...(expiresAt === undefined ? {} : { expirationDate: expiresAt.toISOString() }),
  };
};

const parseExpiry = (fields: Fields, now: Date): Date | undefined | "pastDate" => {
  const expiry = fields["expiry"] ?? "never";
  if (expiry === "never") return undefined;
  if (expiry !== "date") return new Date(now.getTime() + Number(expiry) * dayMs);
  const expiryDate = new Date(fields["expiresAt"] ?? "");
  return Number.isNaN(expiryDate.getTime()) || expiryDate <= now ? "pastDate" : expiryDate;
};
