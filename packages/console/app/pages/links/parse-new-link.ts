import type { NewPaymentLink } from "../../api/operations.ts";

/** When a new link may expire. */
export const expiryOptions = ["never", "1", "3", "7", "30", "date"] as const;

/** What is wrong with an order, as the key of its words. */
export type NewLinkError = "badAmount" | "pastDate";

const dayMs = 86_400_000;
const amountPattern = /^(\d+(\.\d*)?|\.\d+)$/;

const hourMs = 3_600_000;

/** Blocks of Bitcoin come about every ten minutes, and payments with a low fee wait longer. */
const shortBitcoinExpiryMs = 2 * hourMs;

/** Returns whether an expiry, as it was typed, leaves little time for a payment on Bitcoin. */
export const isShortExpiryOnBitcoin = (expiresAt: string, now: Date): boolean => {
  const remainingMs = new Date(expiresAt).getTime() - now.getTime();
  return remainingMs > 0 && remainingMs < shortBitcoinExpiryMs;
};

type Fields = Readonly<Record<string, string>>;

/** Reads what was typed into the form of a new link; `expiresAt` is in the person's own time. */
export const parseNewLink = (fields: Fields, now: Date): NewPaymentLink | NewLinkError => {
  const amount = (fields["toAmount"] ?? "").trim();
  if (!amountPattern.test(amount) || !/[1-9]/.test(amount)) return "badAmount";
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
