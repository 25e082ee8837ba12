import type { CatalogueToken } from "./catalogue.ts";
import { Decimal } from "./money.ts";

const smallestCurrencyDeposit = new Decimal("0.01");
const smallestOtherDeposit = new Decimal("0.00001");

/**
 * The least amount of a token for which plain transfers are looked at unless an operator says otherwise:
 * a hundredth where its unit is a currency's, else a hundred-thousandth. From this amount on a transfer
 * that names its link by a suffix is found, whatever an operator sets for deposits.
 */
export const getSmallestDeposit = ({
  currencyCode,
}: Pick<CatalogueToken, "currencyCode">): Decimal =>
  currencyCode === null ? smallestOtherDeposit : smallestCurrencyDeposit;
