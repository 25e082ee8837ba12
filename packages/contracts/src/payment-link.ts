import * as z from "zod";
import { ChainType } from "./account.ts";
import { pageOf, wireAmount, wireCount, wireInstant } from "./api/operation.ts";
import { LinkStatus, linkStatuses } from "./events.ts";
import { LinkTexts, linkTextsBody } from "./link-texts.ts";
import {
  body,
  dateTime,
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
      description:
        "The decimal chain id on EVM chains, otherwise a name such as `solana` or `bitcoin`.",
    }),
    name: z.string().meta({ description: "The display name." }),
    symbol: z.string().meta({ description: "The symbol of the chain's native coin." }),
    chainType: ChainType.meta({
      description: "The chain family: `EVM`, `SVM` (Solana), `TVM` (Tron) or `BVM` (Bitcoin).",
    }),
    logo: z.string().meta({ description: "The URL of an image." }),
  })
  .meta({ id: "ChainData" });
export type ChainData = z.output<typeof ChainData>;

/** A token on its chain (rule API-7). */
export const TokenData = z
  .object({
    address: z.string().meta({ description: "The address of the contract or mint on `chain`." }),
    decimals: wireCount.meta({
      description:
        "The maximum number of decimal places of an amount. 1 token is 10^decimals base units.",
    }),
    symbol: z.string().meta({ description: "Such as `USDC`. Several tokens can share a symbol." }),
    name: z.string().meta({ description: "The display name." }),
    logo: z.string().nullable().meta({ description: "Always null for now." }),
    isNative: z
      .boolean()
      .nullable()
      .meta({ description: "Whether the token is the chain's native coin." }),
    isStablecoin: z
      .boolean()
      .nullable()
      .meta({ description: "Whether the token tracks a currency." }),
    currencyCode: z
      .string()
      .nullable()
      .meta({ description: "The ISO 4217 code of the currency that a stablecoin tracks." }),
    commodityCode: z
      .string()
      .nullable()
      .meta({ description: "The code of the commodity that the token tracks." }),
    chain: ChainData,
    priceUsd: z.string().nullable().meta({ description: "Always null for now." }),
    isVerified: z
      .boolean()
      .nullable()
      .meta({ description: "Whether the token is in the catalogue." }),
  })
  .meta({ id: "TokenData" });
export type TokenData = z.output<typeof TokenData>;

/** A link in a list (rule API-7). */
export const PaymentLinkData = z
  .object({
    id: z.string().meta({ description: "The id of the link, `plink_…`." }),
    userId: z.string().meta({ description: "The id of the owner, `user_…`." }),
    toAmount: wireAmount.meta({
      description: "The requested amount, a plain decimal in whole tokens of `token`.",
    }),
    destinationAddress: z.string().meta({
      description: "The owner's address that receives the payments. It never changes.",
    }),
    url: z.string().meta({ description: "The checkout page for the payer." }),
    dateCreated: wireInstant.meta({ description: "When the link was created." }),
    token: TokenData,
    status: LinkStatus.meta({
      description:
        "`inactive` means expired or deactivated. Only an `active` link accepts payments, but a payment that was " +
        "sent before the link expired is still applied.",
    }),
    ...LinkTexts.shape,
    maxUsage: z.int().min(1).nullable().meta({
      description:
        "The number of payments that complete the link. Null means that only the amount completes it.",
    }),
    receivedAmount: wireAmount.meta({
      description:
        "The total of applied payments so far, in the same form as `toAmount`. A link completed by `maxUsage` can " +
        "be underpaid: compare this with `toAmount`.",
    }),
    expirationDate: wireInstant
      .nullable()
      .meta({ description: "When the link expires. Null means never." }),
    transactionUrl: z.string().nullable().meta({
      description:
        "The receipt page of the last applied payment. Null in lists, and until the link is completed.",
    }),
  })
  .meta({ id: "PaymentLinkData" });
export type PaymentLinkData = z.output<typeof PaymentLinkData>;

/** The response of a create call (rule API-2). */
export const PaymentLinkCreationData = z
  .object({
    id: z.string().meta({ description: "The id of the link, `plink_…`." }),
    url: z.string().meta({ description: "The checkout page. Send this URL to the payer." }),
  })
  .meta({ id: "PaymentLinkCreationData" });

/** A page of links (rules API-5 and API-44). */
export const PaymentLinkPage = pageOf(PaymentLinkData)
  .extend({
    nextUpdatedAfter: wireInstant.optional().meta({
      description:
        "The `updatedAfter` of your next run. Store it after you have handled the last page of this run. It is five " +
        "minutes before this response, because a change can become visible later than its time. Present only on " +
        "the first page of a list with `updatedAfter`.",
    }),
  })
  .meta({ id: "PaymentLinkPage" });

/** The wallet that a link settles to (rule API-7). */
export const UserWalletData = z
  .object({
    walletAddress: z.string().meta({ description: "The address that receives payments." }),
    token: z
      .object({
        id: z.string().meta({ description: "The id of the token in the catalogue." }),
        token: TokenData,
      })
      .meta({ description: "The token that the wallet receives." }),
    chainType: ChainType.meta({ description: "The family of the token's chain." }),
    isDefault: z.boolean().meta({ description: "Whether new links use this wallet." }),
    isChainDefault: z
      .boolean()
      .meta({ description: "Whether this is the default wallet of its chain." }),
    provider: z.string().nullable().meta({ description: "The provider of the wallet, if known." }),
  })
  .meta({ id: "UserWalletData" });
export type UserWalletData = z.output<typeof UserWalletData>;

/** The owner's public profile (rule API-7). */
export const UserData = z
  .object({
    id: z.string().meta({ description: "The id of the owner, `user_…`." }),
    handle: z.string().meta({ description: "Without the leading `@`. The handle can change." }),
    username: z.string().meta({ description: "The display name." }),
    dateCreated: wireInstant.meta({ description: "When the account was created." }),
    wallet: UserWalletData,
    profileImage: z.string().nullable().meta({ description: "The URL of an image." }),
    bio: z.string().nullable().meta({ description: "A text by the owner about themselves." }),
    backgroundImage: z.string().nullable().meta({ description: "The URL of an image." }),
    backgroundColour: z.string().nullable().meta({ description: "`#` and six hex digits." }),
    links: z.array(z.string()).nullable().meta({ description: "URLs that the owner has chosen." }),
    isMooveUser: z.boolean().nullable().meta({ description: "Whether the owner has an account." }),
    contact: z
      .object({})
      .nullable()
      .meta({ description: "Always null, because it is not public." }),
    badges: z.array(z.object({})).nullable().meta({ description: "Always null for now." }),
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
        "The amount in the token of the owner's default wallet. Greater than 0, with at most 78 digits and no more " +
        "decimal places than the token has. A string is recommended.",
      examples: ["25", "0.1"],
    }),
    ...linkTextsBody,
    maxUsage: nullable(integer({ min: 1, max: int32Max })).describe(
      "The number of payments that complete the link, whatever their amount. Null means that only the amount completes it.",
    ),
    expirationDate: nullable(futureDateTime(now)).describe(
      "Must be in the future. UTC if it has no offset. Null means that the link never expires.",
    ),
  }).meta({ id: "NewPaymentLink" });
export type CreateLinkBody = z.output<ReturnType<typeof createLinkBody>>;

/** The query parameters of a page. The offset counts entries of the filtered list (rule API-5). */
export const PageQuery = z.object({
  offset: parameter(integer({ min: 0, max: int32Max })).describe(
    "The number of entries to skip: `nextOffset` of the previous page. Defaults to 0. New entries shift the " +
      "pages, so skip an `id` that you have already received.",
  ),
});

/** The query parameters of list (rules API-4 and API-44). */
export const ListLinksQuery = z.object({
  status: parameter(oneOf(linkStatuses)).describe(
    "Only links with this status. Defaults to all links.",
  ),
  updatedAfter: parameter(dateTime).describe(
    "Only links that changed at or after this instant: they were created, got a payment, changed their status or " +
      "expired. The latest change comes first. A link that changes while you request pages can appear twice, or only " +
      "in your next run. Links from before the update of this installation that added the parameter count as changed " +
      "at that update.",
  ),
  ...PageQuery.shape,
});
