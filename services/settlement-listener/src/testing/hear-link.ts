import { type Catalogue, type PaymentLinkState, openCatalogue } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { hearLinks } from "../events/hear-links.ts";

/** Hears one record of a link, as the consumer hears many. */
export const hearLink =
  (clock: Clock, catalogue: Catalogue = openCatalogue()) =>
  (tx: Transaction, data: { link: PaymentLinkState }): Promise<void> =>
    hearLinks({ catalogue, clock })(tx, [{ data }]);
