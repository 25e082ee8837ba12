/** The ways to pay through contracts, ordered from the least to the most effort for the payer. */
export const paymentWays = ["batch", "suffix", "approve_and_pay", "pay"] as const;
