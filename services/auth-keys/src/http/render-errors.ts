import type { ApiError } from "@payment-links/contracts";
import { type Html, html } from "@payment-links/http";

/** Renders errors on a page, with the texts of its language. */
export const renderErrors = (
  { entries }: ApiError,
  texts: Readonly<Record<string, string>>,
): Html => {
  const textByCode = new Map(Object.entries(texts));
  return html`${entries.map(({ code, message }) => html`<p>${textByCode.get(code) ?? message}</p>`)}`;
};
