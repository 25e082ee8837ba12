import * as z from "zod";

/** Who sent a deposit, out of a column that is null for a payment. */
export const Payer = z
  .string()
  .nullable()
  .transform((payer) => payer ?? undefined);
