import * as z from "zod";
import { ChainType } from "./account.ts";
import { pageOf, wireAmount, wireCount, wireInstant } from "./api/operation.ts";
import { LinkStatus, linkStatuses } from "./events.ts";
import { LinkTexts, linkTextsBody } from "./link-texts.ts";
import {
  body,
  futureDateTime,
  integer,
  nullable,
  oneOf,
  parameter,
  positiveDecimal,
  required,
} from "./validation.ts";

const int32Max = 2_147_483_647;

/** The fixed number of links on one page of a list (rule API-5). */
export const pageSize = 10;

/** A chain (rule API-7). */
export const ChainData = z
  .object({
    id: z.string().meta({
      description: "On EVM chains the decimal chain id; else a word such as `solana` or `bitcoin`.",
    }),
    name: z.string().meta({ description: "For people." }),
    symbol: z.string().meta({ description: "That of the chain's own coin." }),
    chainType: ChainType.meta({ description: "The family: `EVM`, Solana, Tron or Bitcoin." }),
    logo: z.string().meta({ description: "An image's URL." }),
  })
  .meta({ id: "ChainData" });
export type ChainData = z.output<typeof ChainData>;

/** A token on its chain (rule API-7). */
export const TokenData = z
  .object({
    address: z.string().meta({ description: "The contract's or mint's, on `chain`." }),
    decimals: wireCount.meta({
      description:
        "How many decimal places an amount of it has at most; 1 is ten to that power base units.",
    }),
    symbol: z.string().meta({ description: "Such as `USDC`; several tokens may have it." }),
    name: z.string().meta({ description: "For people." }),
    logo: z.string().nullable().meta({ description: "Null: there is none by now." }),
    isNative: z.boolean().nullable().meta({ description: "Whether it is the chain's own coin." }),
    isStablecoin: z.boolean().nullable().meta({ description: "Whether it follows a currency." }),
    currencyCode: z.string().nullable().meta({ description: "ISO 4217, of a stablecoin." }),
    commodityCode: z.string().nullable().meta({ description: "Of what follows a commodity." }),
    chain: ChainData,
    priceUsd: z.string().nullable().meta({ description: "Null: no price is told by now." }),
    isVerified: z.boolean().nullable().meta({ description: "Whether the catalogue has it." }),
  })
  .meta({ id: "TokenData" });
export type TokenData = z.output<typeof TokenData>;

/** A link in a list (rule API-7). */
export const PaymentLinkData = z
  .object({
    id: z.string().meta({ description: "The link's, `plink_…`." }),
    userId: z.string().meta({ description: "Its owner's, `user_…`." }),
    toAmount: wireAmount.meta({
      description: "What is asked for: a plain decimal of whole tokens, in the link's `token`.",
    }),
    destinationAddress: z.string().meta({
      description: "The owner's address at which the link is paid, fixed when it was made.",
    }),
    url: z.string().meta({ description: "The checkout page, for the payer." }),
    dateCreated: wireInstant.meta({ description: "When it was made." }),
    token: TokenData,
    status: LinkStatus.meta({
      description:
        "`inactive` once it expired or was deactivated. Only an `active` link takes payments, but that one " +
        "which was sent before a link expired still counts.",
    }),
    ...LinkTexts.shape,
    maxUsage: z.int().min(1).nullable().meta({
      description: "How many payments complete the link; no number of them where null.",
    }),
    receivedAmount: wireAmount.meta({
      description:
        "Total paid against the link so far, as `toAmount`. A link completed by usage may be underpaid: " +
        "compare it with toAmount.",
    }),
    expirationDate: wireInstant
      .nullable()
      .meta({ description: "When it becomes inactive by itself; never where null." }),
    transactionUrl: z.string().nullable().meta({
      description:
        "The receipt of the payment that counted last, of a completed link asked for alone; else null.",
    }),
  })
  .meta({ id: "PaymentLinkData" });
export type PaymentLinkData = z.output<typeof PaymentLinkData>;

/** The response of create (rule API-2). */
export const PaymentLinkCreationData = z
  .object({
    id: z.string().meta({ description: "The link's, `plink_…`." }),
    url: z.string().meta({ description: "The checkout page: send the payer there." }),
  })
  .meta({ id: "PaymentLinkCreationData" });

/** A page of links (rule API-5). */
export const PaymentLinkPage = pageOf(PaymentLinkData).meta({ id: "PaymentLinkPage" });

/** The wallet that a link settles to (rule API-7). */
export const UserWalletData = z
  .object({
    walletAddress: z.string().meta({ description: "Where it is paid." }),
    token: z
      .object({
        id: z.string().meta({ description: "Its id in the catalogue." }),
        token: TokenData,
      })
      .meta({ description: "The one token in which it is paid." }),
    chainType: ChainType.meta({ description: "The family of the token's chain." }),
    isDefault: z.boolean().meta({ description: "Whether new links are paid there." }),
    isChainDefault: z.boolean().meta({ description: "Whether it is the default of its chain." }),
    provider: z.string().nullable().meta({ description: "Whose wallet it is, where known." }),
  })
  .meta({ id: "UserWalletData" });
export type UserWalletData = z.output<typeof UserWalletData>;

/** The owner's public profile (rule API-7). */
export const UserData = z
  .object({
    id: z.string().meta({ description: "The owner's, `user_…`." }),
    handle: z.string().meta({ description: "Without the `@` before it; it may change." }),
    username: z.string().meta({ description: "The name to show." }),
    dateCreated: wireInstant.meta({ description: "When the account was opened." }),
    wallet: UserWalletData,
    profileImage: z.string().nullable().meta({ description: "An image's URL." }),
    bio: z.string().nullable().meta({ description: "What the owner says of themselves." }),
    backgroundImage: z.string().nullable().meta({ description: "An image's URL." }),
    backgroundColour: z.string().nullable().meta({ description: "`#` and six hex digits." }),
    links: z.array(z.string()).nullable().meta({ description: "URLs of the owner's choice." }),
    isMooveUser: z.boolean().nullable().meta({ description: "Whether the owner has an account." }),
    contact: z.object({}).nullable().meta({ description: "Null: it is not public." }),
    badges: z.array(z.object({})).nullable().meta({ description: "Null: there are none by now." }),
  })
  .meta({ id: "UserData" });
export type UserData = z.output<typeof UserData>;

/** A single link with its owner (rule API-6). */
export const RetrievedPaymentLink = PaymentLinkData.extend({ user: UserData }).meta({
  id: "RetrievedPaymentLink",
});
export type RetrievedPaymentLink = z.output<typeof RetrievedPaymentLink>;

/**
 * Returns the request schema of create (rule API-3). It compares `expirationDate` with the given
 * clock.
 */
export const createLinkBody = (now: () => Date) =>
  body({
    toAmount: required(positiveDecimal).meta({
      description:
        "Greater than 0, of at most 78 digits and no finer than the settlement token of the owner's " +
        "default wallet, in which it is. A string is recommended.",
      examples: ["25", "0.1"],
    }),
    ...linkTextsBody,
    maxUsage: nullable(integer({ min: 1, max: int32Max })).describe(
      "How many payments complete the link, whatever was received; no number of them where null.",
    ),
    expirationDate: nullable(futureDateTime(now)).describe(
      "In the future; UTC without an offset. Never where null.",
    ),
  }).meta({ id: "NewPaymentLink" });
export type CreateLinkBody = z.output<ReturnType<typeof createLinkBody>>;

/** The query parameters of a page. The offset counts entries of the filtered list (rule API-5). */
export const PageQuery = z.object({
  offset: parameter(integer({ min: 0, max: int32Max })).describe(
    "How many entries to pass over: `nextOffset` of the page before; 0 where nothing is said. Things made " +
      "meanwhile move the entries: whoever wants them all leaves out repeats by `id`.",
  ),
});

/** The query parameters of list (rule API-4). */
export const ListLinksQuery = z.object({
  status: parameter(oneOf(linkStatuses)).describe("Only such; all where nothing is said."),
  ...PageQuery.shape,
});
