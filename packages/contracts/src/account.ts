import * as z from "zod";
import { Id } from "./ids.ts";
import { Instant } from "./instant.ts";

export const chainTypes = ["EVM", "SVM", "TVM", "BVM"] as const;
export const ChainType = z.enum(chainTypes);
export type ChainType = z.output<typeof ChainType>;

/** A wallet of an account, as services tell each other. `tokenId` names an entry of the catalogue. */
export const Wallet = z.object({
  id: Id,
  walletAddress: z.string(),
  tokenId: z.string(),
  chainType: ChainType,
  isDefault: z.boolean(),
  isChainDefault: z.boolean(),
  provider: z.string().nullable(),
  /** On Bitcoin the index of the first address that links get. Those below are the owner's own. */
  firstAddressIndex: z.int().nonnegative().optional(),
});
export type Wallet = z.output<typeof Wallet>;

/** An account's whole state: the data of every `accounts.v1` record and of every introspection (rule CALLER-41 apart). */
export const Account = z.object({
  id: Id,
  version: z.int().positive(),
  handle: z.string().nullable(),
  username: z.string(),
  dateCreated: Instant,
  profileImage: z.string().nullable(),
  bio: z.string().nullable(),
  backgroundImage: z.string().nullable(),
  backgroundColour: z.string().nullable(),
  links: z.array(z.string()).nullable(),
  wallets: z.array(Wallet),
  /** An operator keeps its keys, sessions and links from working (rule CALLER-17). */
  isSuspended: z.boolean().optional(),
  /** Whether an operator vouches for it (rule CALLER-38). Missing in records of earlier releases. */
  isVerified: z.boolean().optional(),
});
export type Account = z.output<typeof Account>;

/** The wallet that new links settle to, if the owner has chosen one. */
export const findDefaultWallet = (account: Account): Wallet | undefined =>
  account.wallets.find((wallet) => wallet.isDefault);
