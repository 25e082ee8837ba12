import { isId } from "@payment-links/contracts";

/** What a person who typed something looks for: one link by a name of it, or a text of theirs. */
export type LinkSearch = { linkId: string } | { paymentReference: string } | { text: string };

const referencePattern = /^0x[0-9a-f]{32}$/;

/** Reads what was typed, or pasted with blanks around it (rule CALLER-24). */
export const parseSearch = (input: string): LinkSearch => {
  const trimmed = input.trim();
  if (isId("plink", trimmed)) return { linkId: trimmed };
  const reference = trimmed.toLowerCase();
  if (referencePattern.test(reference)) return { paymentReference: reference.slice(2) };
  return { text: input };
};
