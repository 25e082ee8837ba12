import type { CatalogueToken } from "./catalogue.ts";
import { Decimal } from "./money.ts";

const smallestCurrencyDeposit = new Decimal("0.01");
const smallestOtherDeposit = new Decimal("0.00001");

/**
 * Returns the default minimum for scanning plain transfers of a token, which an operator can
 * change. It is 0.01 for a token whose unit is a currency's, and 0.00001 for any other token. A
 * transfer of at least this amount that identifies its link by a suffix is always found, even if
 * the operator sets a different minimum for deposits.
 */
export const getSmallestDeposit = ({
  currencyCode,
}: Pick<CatalogueToken, "currencyCode">): Decimal =>
  currencyCode === null ? smallestOtherDeposit : smallestCurrencyDeposit;
