import * as z from "zod";

/** Parses the column for the sender. It is null if the chain reports none. */
export const Payer = z
  .string()
  .nullable()
  .transform((payer) => payer ?? undefined);
