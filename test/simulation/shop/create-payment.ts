import { Decimal } from "@payment-links/contracts";
import { type Flaw, type Order, type Payment, initialTransferState } from "../model-transfer.ts";
import type { Shop } from "./shop.ts";

/** Creates an on-chain payment that is not sent yet. */
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
