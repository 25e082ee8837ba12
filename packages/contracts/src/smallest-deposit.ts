import type { CatalogueToken } from "./catalogue.ts";
import { Decimal } from "./money.ts";

const smallestCurrencyDeposit = new Decimal("0.01");
const smallestOtherDeposit = new Decimal("0.00001");

/**
 * Returns the smallest amount of a token at which plain transfers are scanned, unless an operator
 * sets another one. It is 0.01 for a token in a currency's unit, and 0.00001 for any other token. A
 * transfer of at least this amount that names its link by a suffix is always found, regardless of
 * the operator's setting for deposits.
 */
export const getSmallestDeposit = ({
  currencyCode,
}: Pick<CatalogueToken, "currencyCode">): Decimal =>
  currencyCode === null ? smallestOtherDeposit : smallestCurrencyDeposit;
