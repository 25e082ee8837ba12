import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

/** The result of the last submission of the form: that the receipt was sent, or a problem. */
export type ReceiptFormState = {
  result?: "sent" | "invalid" | "rejected" | "tooMany" | "failed" | undefined;
  /** The submitted address, which the visitor can correct. */
  address?: string;
};

/** Renders the form that sends a receipt by email. It works without a script. */
export const renderReceiptForm = (
  paymentId: string,
  { result, address = "" }: ReceiptFormState,
  { texts: { receipt } }: Localization,
): Html => {
  const texts = receipt.email;
  const errorText = result && result !== "sent" ? texts[result] : undefined;
  const notice = html`<p class="notice" role="status">${texts.sent}</p>`;
  return html`<div id="email" class="email">
    ${result === "sent" ? notice : undefined}
    <details ${errorText && html`open`}>
      <summary>${texts.title}</summary>
      <form method="post" action="/tx/${paymentId}#email">
        <label for="address">${texts.address}</label>
        <input
          id="address"
          name="address"
          type="email"
          value="${address}"
          autocomplete="email"
          maxlength="254"
          required
          aria-describedby="address-hint"
          ${errorText && html`aria-invalid="true" aria-errormessage="address-error"`}
        />
        ${errorText && html`<p id="address-error" class="error" role="alert">${errorText}</p>`}
        <p id="address-hint" class="quiet">${texts.hint}</p>
        <button type="submit">${texts.send}</button>
      </form>
    </details>
  </div>`;
};
