import * as z from "zod";
import type { Catalogue } from "./catalogue.ts";
import type { CatalogueChain } from "./catalogue-data.ts";

export const modes = ["live", "test"] as const;

/**
 * Whether a key, wallet, link or webhook endpoint is for real money. The two modes of an account
 * are separate: nothing in one is visible or changeable in the other (rule MODE-1).
 */
export const Mode = z.enum(modes);
export type Mode = z.output<typeof Mode>;

/** Returns the mode of a new wallet on a chain. */
export const getChainMode = ({ isTestNetwork }: Pick<CatalogueChain, "isTestNetwork">): Mode =>
  isTestNetwork === true ? "test" : "live";

/** Returns whether the catalogue has a token on a test network, which test mode needs. */
export const isTestModeAvailable = ({ tokens }: Pick<Catalogue, "tokens">): boolean =>
  tokens.some(({ chain }) => getChainMode(chain) === "test");
