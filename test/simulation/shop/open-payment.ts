import { Decimal } from "@payment-links/contracts";
import { type Flaw, type Order, type Payment, freshMoney } from "../money.ts";
import type { Shop } from "./shop.ts";

/** A payment on chain that is about to be made. */
export const openPayment = (
  { kind, model, world }: Shop,
  order: Order,
  { flaw, units }: { units: number; flaw?: Flaw | undefined },
): Payment => ({
  number: model.payments.length + 1,
  order,
  amount: new Decimal(units).div(kind.unitsPerToken).toFixed(),
  flaw,
  sentAt: world.now(),
  occurredAt: world.now(),
  ...freshMoney,
});
