import { check } from "@payment-links/design/icons";
import { type Html, html } from "@payment-links/http";
import type { PendingPayment } from "../store/payments.ts";
import { renderIcon } from "./render-icon.ts";
import { type Localization, fillPlaceholders } from "./localization.ts";

/**
 * Renders the steps of a payment. The HTML already shows a pending payment. Afterwards the page's
 * script sets the current step (`stepper.js`). The number of confirmations changes with every block,
 * so it is outside the live region.
 */
export const renderStepper = (
  pendingPayment: PendingPayment | undefined,
  localization: Localization,
): Html => {
  const { progress, script } = localization.texts;
  const isConfirming = pendingPayment !== undefined;
  const doneAttribute = isConfirming ? html`class="done"` : undefined;
  const mark = renderIcon(check, 12);
  return html`<ol
    id="stepper"
    class="stepper"
    tabindex="-1"
    aria-label="${progress.title}"
    data-confirming="${progress.confirming}"
    data-confirmations="${script.confirming}"
    ${isConfirming ? undefined : html`hidden`}
  >
    <li ${doneAttribute}>${mark}${progress.confirm}</li>
    <li ${doneAttribute}>${mark}${progress.sent}</li>
    <li ${isConfirming ? html`class="current" aria-current="step"` : undefined}>
      ${mark}<span id="confirming">${renderConfirmations(pendingPayment, localization)}</span>
    </li>
    <li>${progress.paid}</li>
  </ol>`;
};

const renderConfirmations = (
  pendingPayment: PendingPayment | undefined,
  { texts: { progress, script } }: Localization,
): string => {
  const confirmations = pendingPayment?.confirmations ?? undefined;
  if (confirmations === undefined) return progress.confirming;
  const { seen, needed } = confirmations;
  return fillPlaceholders(script.confirming, { seen: String(seen), needed: String(needed) });
};
