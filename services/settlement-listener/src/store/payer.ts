import * as z from "zod";

/** Parses the column for the sender of a deposit. The column is null for payments. */
export const Payer = z
  .string()
  .nullable()
  .transform((payer) => payer ?? undefined);
