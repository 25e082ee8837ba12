import { Decimal } from "@payment-links/contracts";
import { type Flaw, type Order, type Payment, initialTransferState } from "../model-transfer.ts";
import type { Shop } from "./shop.ts";

/** A payment on chain that is about to be made. */
export const createPayment = (
  { kind, model, world }: Shop,
  order: Order,
  { flaw, baseUnits }: { baseUnits: number; flaw?: Flaw | undefined },
): Payment => ({
  number: model.payments.length + 1,
  order,
  amount: new Decimal(baseUnits).div(kind.baseUnitsPerToken).toFixed(),
  flaw,
  sentAt: world.now(),
  occurredAt: world.now(),
  ...initialTransferState,
});
