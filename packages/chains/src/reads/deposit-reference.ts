/**
 * Returns the reference under which a deposit is stored, because its transfer carries none.
 * Deposits of one token to one address share a reference, so they are numbered within their
 * receipt. The value cannot collide with a reference hash.
 */
export const deriveDepositReference = (deposit: {
  tokenAddress: string;
  destinationAddress: string;
}): string => `deposit:${deposit.tokenAddress}:${deposit.destinationAddress}`;
