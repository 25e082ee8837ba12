import * as z from "zod";
import { ChainType } from "./account.ts";
import { pageOf, wireInstant } from "./api/operation.ts";
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

/** Links on one page of a list; fixed (rule API-5). */
export const pageSize = 10;

/** A chain (rule API-7). */
export const ChainData = z
  .object({
    id: z.string(),
    name: z.string(),
    symbol: z.string(),
    chainType: ChainType,
    logo: z.string(),
  })
  .meta({ id: "ChainData" });
export type ChainData = z.output<typeof ChainData>;

/** A token on its chain (rule API-7). */
export const TokenData = z
  .object({
    address: z.string(),
    decimals: z.int(),
    symbol: z.string(),
    name: z.string(),
    logo: z.string().nullable(),
    isNative: z.boolean().nullable(),
    isStablecoin: z.boolean().nullable(),
    currencyCode: z.string().nullable(),
    commodityCode: z.string().nullable(),
    chain: ChainData,
    priceUsd: z.string().nullable(),
    isVerified: z.boolean().nullable(),
  })
  .meta({ id: "TokenData" });
export type TokenData = z.output<typeof TokenData>;

/** A link as lists have it (rule API-7). */
export const PaymentLinkData = z
  .object({
    id: z.string(),
    userId: z.string(),
    toAmount: z.string(),
    destinationAddress: z.string(),
    url: z.string(),
    dateCreated: wireInstant,
    token: TokenData,
    status: LinkStatus,
    ...LinkTexts.shape,
    maxUsage: z.int().nullable(),
    receivedAmount: z.string().meta({
      description:
        "Total paid against the link so far. A link completed by usage may be underpaid: compare " +
        "it with toAmount.",
    }),
    expirationDate: wireInstant.nullable(),
    transactionUrl: z.string().nullable(),
  })
  .meta({ id: "PaymentLinkData" });
export type PaymentLinkData = z.output<typeof PaymentLinkData>;

/** What create answers (rule API-2). */
export const PaymentLinkCreationData = z
  .object({ id: z.string(), url: z.string() })
  .meta({ id: "PaymentLinkCreationData" });

/** A page of links (rule API-5). */
export const PaymentLinkPage = pageOf(PaymentLinkData).meta({ id: "PaymentLinkPage" });

/** The wallet that a link settles to (rule API-7). */
export const UserWalletData = z
  .object({
    walletAddress: z.string(),
    token: z.object({ id: z.string(), token: TokenData }),
    chainType: ChainType,
    isDefault: z.boolean(),
    isChainDefault: z.boolean(),
    provider: z.string().nullable(),
  })
  .meta({ id: "UserWalletData" });
export type UserWalletData = z.output<typeof UserWalletData>;

/** The owner's public profile (rule API-7). */
export const UserData = z
  .object({
    id: z.string(),
    handle: z.string(),
    username: z.string(),
    dateCreated: wireInstant,
    wallet: UserWalletData,
    profileImage: z.string().nullable(),
    bio: z.string().nullable(),
    backgroundImage: z.string().nullable(),
    backgroundColour: z.string().nullable(),
    links: z.array(z.string()).nullable(),
    isMooveUser: z.boolean().nullable(),
    contact: z.object({}).nullable(),
    badges: z.array(z.object({})).nullable(),
  })
  .meta({ id: "UserData" });
export type UserData = z.output<typeof UserData>;

/** A link asked for alone, with its owner (rule API-6). */
export const RetrievedPaymentLink = PaymentLinkData.extend({ user: UserData }).meta({
  id: "RetrievedPaymentLink",
});
export type RetrievedPaymentLink = z.output<typeof RetrievedPaymentLink>;

/** The body of create (rule API-3); its `expirationDate` is held against the clock's now. */
export const createLinkBody = (now: () => Date) =>
  body({
    toAmount: required(positiveDecimal).meta({
      description:
        "Greater than 0, of at most 78 digits and no finer than the settlement token of the owner's " +
        "default wallet. A string is recommended.",
      examples: ["25", "0.1"],
    }),
    ...linkTextsBody,
    maxUsage: nullable(integer({ min: 1, max: int32Max })),
    expirationDate: nullable(futureDateTime(now)).describe("In the future; UTC without an offset."),
  }).meta({ id: "NewPaymentLink" });
export type CreateLinkBody = z.output<ReturnType<typeof createLinkBody>>;

/** The query of a page: the offset counts entries of the filtered list (rule API-5). */
export const PageQuery = z.object({ offset: parameter(integer({ min: 0, max: int32Max })) });

/** The query of list (rule API-4). */
export const ListLinksQuery = z.object({
  status: parameter(oneOf(linkStatuses)),
  ...PageQuery.shape,
});
