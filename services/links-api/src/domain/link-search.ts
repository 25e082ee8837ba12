import { isId } from "@payment-links/contracts";

/** What a person who typed something looks for: one link by a name of it, or a text of theirs. */
export type LinkSearch = { linkId: string } | { paymentReference: string } | { text: string };

const referenceForm = /^0x[0-9a-f]{32}$/;

/** Reads what was typed, or pasted with blanks around it (rule CALLER-24). */
export const readSearch = (typed: string): LinkSearch => {
  const name = typed.trim();
  if (isId("plink", name)) return { linkId: name };
  const reference = name.toLowerCase();
  if (referenceForm.test(reference)) return { paymentReference: reference.slice(2) };
  return { text: typed };
};
