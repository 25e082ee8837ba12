import { isId } from "@payment-links/contracts";

/** A search: one link by its id or payment reference, or any text. */
export type LinkSearch = { linkId: string } | { paymentReference: string } | { text: string };

const referencePattern = /^0x[0-9a-f]{32}$/;

/** Parses a search input, ignoring surrounding whitespace for identifiers (rule CALLER-24). */
export const parseSearch = (input: string): LinkSearch => {
  const trimmed = input.trim();
  if (isId("plink", trimmed)) return { linkId: trimmed };
  const reference = trimmed.toLowerCase();
  if (referencePattern.test(reference)) return { paymentReference: reference.slice(2) };
  return { text: input };
};
