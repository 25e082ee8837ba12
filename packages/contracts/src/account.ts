import * as z from "zod";
import { chainTypes } from "@payment-links/chains";
import { Id } from "./ids.ts";
import { Instant } from "./instant.ts";
import { Mode } from "./mode.ts";

export const ChainType = z.enum(chainTypes);

/** A wallet of an account, as services exchange it. `tokenId` is the id of a catalogue entry. */
export const Wallet = z.object({
  id: Id,
  walletAddress: z.string(),
  tokenId: z.string(),
  chainType: ChainType,
  isDefault: z.boolean(),
  isChainDefault: z.boolean(),
  provider: z.string().nullable(),
  /**
   * On Bitcoin, the index of the first address that links may use. The owner uses the addresses
   * below it.
   */
  firstAddressIndex: z.int().nonnegative().optional(),
  /** Missing means live: records of earlier releases lack this field. */
  mode: Mode.optional(),
});
export type Wallet = z.output<typeof Wallet>;

/**
 * The full state of an account: the payload of every `accounts.v1` record and of every
 * introspection response, except for the fields that rule CALLER-41 leaves out.
 */
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
  /**
   * The URL to which payers return after a payment (rule API-39). Records of earlier releases lack
   * this field.
   */
  returnUrl: z.string().nullable().optional(),
  wallets: z.array(Wallet),
  /**
   * Whether an operator suspended the account, which disables its keys, sessions and links (rule
   * CALLER-17).
   */
  isSuspended: z.boolean().optional(),
  /**
   * Whether an operator verified the account (rule CALLER-38). Records of earlier releases lack
   * this field.
   */
  isVerified: z.boolean().optional(),
});
export type Account = z.output<typeof Account>;

/** Returns the mode of a wallet. */
export const getWalletMode = ({ mode = "live" }: Pick<Wallet, "mode">): Mode => mode;

/**
 * Returns the wallet that new links of a mode settle to, or undefined if the owner has not chosen
 * one.
 */
export const findDefaultWallet = (account: Account, mode: Mode): Wallet | undefined =>
  account.wallets.find((wallet) => wallet.isDefault && getWalletMode(wallet) === mode);
