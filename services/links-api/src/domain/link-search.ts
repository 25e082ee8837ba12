import { isId } from "@payment-links/contracts";

/** A parsed search: the id of a link, a payment reference, or any other text. */
export type LinkSearch = { linkId: string } | { paymentReference: string } | { text: string };

const referencePattern = /^0x[0-9a-f]{32}$/;

/**
 * Parses a search input (rule CALLER-24). Whitespace around an id or a payment reference is
 * ignored.
 */
export const parseSearch = (input: string): LinkSearch => {
  const trimmed = input.trim();
  if (isId("plink", trimmed)) return { linkId: trimmed };
  const reference = trimmed.toLowerCase();
  if (referencePattern.test(reference)) return { paymentReference: reference.slice(2) };
  return { text: input };
};
