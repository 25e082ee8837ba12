import * as z from "zod";

/** Parses the sender of a deposit from a column that is null for payments. */
export const Payer = z
  .string()
  .nullable()
  .transform((payer) => payer ?? undefined);
