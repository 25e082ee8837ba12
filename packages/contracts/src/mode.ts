import * as z from "zod";

export const modes = ["live", "test"] as const;

/**
 * Whether a key, wallet, link or webhook endpoint is for real money. The two modes of an account
 * are separate: nothing in one is visible or changeable in the other (rule MODE-1).
 */
export const Mode = z.enum(modes);
export type Mode = z.output<typeof Mode>;
