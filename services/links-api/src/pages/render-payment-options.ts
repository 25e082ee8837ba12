import { type Html, html } from "@payment-links/http";
import type { Localization } from "./localization.ts";

type PaymentOptions = Readonly<Record<"wallet" | "qr" | "exchange", Html>>;

/**
 * Renders the ways to pay with a control that selects one of them. Until one is selected, all are
 * visible, so that they can be used without the script. The script selects the one that fits the
 * device (`options.js`).
 */
export const renderPaymentOptions = (
  options: PaymentOptions,
  { texts: { options: texts } }: Localization,
): Html => {
  const names = ["wallet", "qr", "exchange"] as const;
  return html`<div class="options while-payable">
    <fieldset class="segments">
      <legend>${texts.title}</legend>
      ${names.map(
        (name) =>
          html`<label>
            <input
              type="radio"
              name="option"
              value="${name}"
              id="option-${name}"
              autocomplete="off"
            /><span>${texts[name]}</span>
          </label>`,
      )}
    </fieldset>
    ${names.map(
      (name) =>
        html`<section id="${name}-option" class="option" aria-labelledby="${name}-title">
          <h2 id="${name}-title">${texts[name]}</h2>
          ${options[name]}
        </section>`,
    )}
  </div>`;
};
