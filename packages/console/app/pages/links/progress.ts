import type { PaymentLinkData } from "../../api/operations.ts";
import { fromUnits, toUnits } from "../../ui/decimal.ts";

/** How much of a link is paid. The amounts are exact. */
type LinkProgress = {
  /** From 0 to 100, rounded down, so that only a paid link shows 100. */
  percent: number;
  /** What is missing, or undefined if nothing is. */
  missingAmount: string | undefined;
  /** What was paid on top, or undefined if nothing was. */
  excessAmount: string | undefined;
};

export const getLinkProgress = ({
  receivedAmount,
  toAmount,
}: Pick<PaymentLinkData, "receivedAmount" | "toAmount">): LinkProgress => {
  const received = toUnits(receivedAmount);
  const requested = toUnits(toAmount);
  const percent = received >= requested ? 100 : Number((received * 100n) / requested);
  return {
    percent,
    missingAmount: received < requested ? fromUnits(requested - received) : undefined,
    excessAmount: received > requested ? fromUnits(received - requested) : undefined,
  };
};
