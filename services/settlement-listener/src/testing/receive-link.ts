import { type Catalogue, type PaymentLinkState, loadCatalogue } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import type { Clock } from "@payment-links/runtime";
import { receiveLinks } from "../events/receive-links.ts";

/** Receives one event of a link, like the consumer does with a batch. */
export const receiveLink =
  (clock: Clock, catalogue: Catalogue = loadCatalogue()) =>
  (tx: Transaction, data: { link: PaymentLinkState }): Promise<void> =>
    receiveLinks({ catalogue, clock })(tx, [{ data }]);
