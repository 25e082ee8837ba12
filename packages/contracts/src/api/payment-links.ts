import * as z from "zod";
import { parseSolanaAddress, paymentWays } from "@payment-links/chains";
import { LinkStatus, PaymentStatus, linkStatuses } from "../events.ts";
import { isId } from "../ids.ts";
import { Mode } from "../mode.ts";
import {
  ListLinksQuery,
  PageQuery,
  PaymentLinkCreationData,
  PaymentLinkData,
  PaymentLinkPage,
  RetrievedPaymentLink,
  TokenData,
} from "../payment-link.ts";
import {
  body,
  dateTime,
  formattedText,
  oneOf,
  parameter,
  positiveDecimal,
  required,
  text,
} from "../validation.ts";
import { ignoredFieldsHeader } from "../ignored-fields.ts";
import {
  ModeQuery,
  type Operation,
  listOf,
  pageOf,
  wireAmount,
  wireCount,
  wireInstant,
} from "./operation.ts";
import { RefundData } from "./refunds.ts";

/**
 * Why a settled payment was not applied; the first matching reason applies (rule STATE-7).
 * `duplicate` and `conflict` mark further reports of a transfer that another payment already
 * reports (rule STATE-14).
 */
export const unappliedReasons = [
  "duplicate",
  "conflict",
  "wrong_token",
  "wrong_destination",
  "wrong_amount",
  "completed",
  "expired",
  "inactive",
] as const;

/**
 * The reasons for which `payment_link.transaction.unapplied` is sent. A further report of a
 * transfer is not a payment of its own, so it sends nothing (rule HOOK-21).
 */
export const publishedReasons = unappliedReasons.filter(
  (reason) => reason !== "duplicate" && reason !== "conflict",
);

/**
 * Why a payer gets no payment instructions:
 * - the link does not accept payments
 * - its chain is not watched by this installation
 * - no fee proxy supports its token
 * - the amount is larger than the token's maximum
 * - no one could spend money that its destination receives
 */
export const noInstructionsReasons = [
  "completed",
  "expired",
  "inactive",
  "account_suspended",
  "chain_not_watched",
  "no_fee_proxy",
  "amount_not_payable",
  "destination_not_payable",
] as const;

export const paymentFields = {
  id: z.string(),
  status: PaymentStatus,
  applied: z.boolean(),
  reason: z.enum(unappliedReasons).nullable(),
  amount: wireAmount,
  tokenAddress: z.string(),
  chainId: z.string(),
  sourceTransaction: z.string().nullable(),
  dateCreated: wireInstant,
};

/** A payment as the link's owner sees it. */
export const PaymentData = z
  .object({
    ...paymentFields,
    duplicateOf: z
      .string()
      .optional()
      .meta({
        description:
          "The payment that was evaluated first for the same transfer. Present only for the reasons " +
          "`duplicate` and `conflict`.",
      }),
    orphaned: z
      .literal(true)
      .optional()
      .meta({
        description:
          "The payment is no longer on its chain, for example after a reorganization, so the money is not there. A " +
          "payment that had already settled stays applied. The field is omitted as soon as the chain contains the " +
          "payment again.",
      }),
    simulated: z.literal(true).optional().meta({
      description:
        "The payment was simulated in test mode, so no transaction exists. It cannot be refunded.",
    }),
    sender: z.string().nullable().meta({
      description:
        "The sender that the token's transfer reports. Null if it is unknown, as on Bitcoin.",
    }),
    token: TokenData.optional().meta({
      description: "Present only for the reason `wrong_token`, if the catalogue has the token.",
    }),
    transactionUrl: z.string().nullable().meta({
      description:
        "The transaction in its chain's block explorer. Null if the chain has none, or if only a provider has reported the payment.",
    }),
  })
  .meta({ id: "PaymentData" });
export type PaymentData = z.output<typeof PaymentData>;

/** A payment as the account's owner sees it, listed with payments on other links. */
export const OwnPaymentData = PaymentData.extend({ paymentLinkId: z.string() }).meta({
  id: "OwnPaymentData",
});
export type OwnPaymentData = z.output<typeof OwnPaymentData>;

/** Why a link is inactive. */
export const inactiveReasons = ["expired", "deactivated"] as const;

const OwnPaymentLinkData = PaymentLinkData.extend({
  inactiveReason: z
    .enum(inactiveReasons)
    .nullable()
    .meta({ description: "Why the link is `inactive`. Null for every other status." }),
  mode: Mode,
}).meta({ id: "OwnPaymentLinkData" });
export type OwnPaymentLinkData = z.output<typeof OwnPaymentLinkData>;

const OwnPaymentLink = OwnPaymentLinkData.extend({
  payments: z.array(PaymentData).meta({ description: "The newest 100 payments." }),
  refunds: z.array(RefundData).meta({
    description: "The newest 100 refunds that you recorded. They are not verified.",
  }),
  addressGap: wireCount.nullable().meta({
    description:
      "On Bitcoin, the number of consecutive unpaid addresses up to the newest address of the wallet's key. " +
      "Above 20, most wallet apps do not find payments to newer addresses: raise the gap limit in the app. " +
      "Null on other chains.",
  }),
  unsendableRemainder: z
    .object({ amount: wireAmount, smallestPayment: wireAmount })
    .optional()
    .meta({
      description:
        "The remaining amount of an active link, if it is too small to send on the link's chain. It " +
        "cannot be paid, so consider deactivating the link.",
    }),
}).meta({ id: "OwnPaymentLink" });

/** A Bitcoin key as its owner entered it, before it becomes a wallet. */
export const FirstAddressIndexBody = body({
  walletAddress: required(text({ lengthMax: 300 })).describe(
    "The account's extended public key or descriptor.",
  ),
  tokenId: required(text({ lengthMax: 100 })),
}).meta({ id: "FirstAddressIndexQuestion" });

const FirstAddressIndexSuggestion = z
  .object({
    firstAddressIndex: wireCount,
    isChecked: z.boolean().meta({
      description:
        "Whether a node reported which addresses were used. If false, check your wallet app.",
    }),
  })
  .meta({ id: "FirstAddressIndexSuggestion" });

/** The state of a payment, available to anyone who knows its id. */
export const CheckoutTransaction = z
  .object({ ...paymentFields, paymentLinkId: z.string(), transactionUrl: z.string().nullable() })
  .meta({ id: "CheckoutTransaction" });
export type CheckoutTransaction = z.output<typeof CheckoutTransaction>;

const PaymentStep = z
  .object({
    kind: z.enum(["reset_allowance", "approve", "pay"]),
    to: z.string(),
    value: z.string().meta({ description: "In base units of the native coin." }),
    data: z.string(),
    tron: z
      .object({
        functionSelector: z.string(),
        parameter: z.string().meta({ description: "`data` without its first 4 bytes." }),
        energyMax: wireCount.meta({ description: "The maximum energy of the call." }),
        feeLimit: z.string().meta({
          description: "The maximum fee, in sun, that a payer without energy burns.",
        }),
      })
      .optional()
      .meta({
        description: "On Tron, the call in the format of TronWeb's `triggerSmartContract`.",
      }),
  })
  .meta({ id: "PaymentStep" });

const PaymentWay = z
  .object({
    kind: z.enum(paymentWays).meta({
      description:
        "`batch`: all steps in one call, for a wallet that executes them atomically (EIP-5792, " +
        "`wallet_sendCalls`). `suffix`: the token's own transfer to the owner, with the payment reference " +
        "appended to its calldata. Send it unchanged, from an account without code. " +
        "`approve_and_pay`: one step after the other. `pay`: the single step for a chain's native coin.",
    }),
    signatures: wireCount.meta({
      description:
        "The number of signatures by the payer. Fewer are needed if an allowance already exists.",
    }),
    steps: z.array(PaymentStep),
  })
  .meta({ id: "PaymentWay" });

const baseUnits = z
  .string()
  .regex(/^[0-9]+$/)
  .meta({ description: "The amount as an integer in the token's base units." });

const PaymentInstructions = z
  .object({
    amount: wireAmount,
    amountBaseUnits: baseUnits,
    proxyAddress: z.string(),
    paymentReference: z.string(),
    steps: z.array(PaymentStep).meta({
      description: "The steps of the last entry in `ways`, which every wallet supports.",
    }),
    ways: z.array(PaymentWay).meta({
      description:
        "Alternative ways to pay the same amount, in order of preference. Use only the first way that the " +
        "payer's wallet supports.",
    }),
  })
  .meta({
    id: "PaymentInstructions",
    description: "Instructions for EVM chains and Tron. On Tron, all addresses are in base58check.",
  });

const SolanaInstructions = z
  .object({
    amount: wireAmount,
    amountBaseUnits: baseUnits,
    transferRequestUrl: z.string().meta({ description: "A Solana Pay transfer request." }),
    transactionRequestUrl: z.string().nullable().meta({
      description:
        "A Solana Pay transaction request. Null for SOL, and if the checkout is not served over https.",
    }),
    recipient: z.string().meta({ description: "The owner's wallet, not its token account." }),
    splToken: z.string().nullable().meta({ description: "The token's mint. Null for SOL." }),
    tokenProgram: z.enum(["token", "token-2022"]).nullable(),
    reference: z.string().meta({
      description:
        "The key that the transfer includes as a read-only account. It identifies the payment.",
    }),
  })
  .meta({ id: "SolanaInstructions" });

const BitcoinInstructions = z
  .object({
    amount: wireAmount,
    amountBaseUnits: baseUnits,
    uri: z.string().meta({ description: "A BIP-21 payment URI." }),
    address: z.string().meta({ description: "The address of this link only." }),
  })
  .meta({ id: "BitcoinInstructions" });

/** The state of a link and its payment instructions, for payers. */
export const CheckoutLink = z
  .object({
    id: z.string(),
    url: z.string(),
    status: LinkStatus,
    toAmount: wireAmount,
    receivedAmount: wireAmount,
    remainingAmount: wireAmount,
    currentUsage: wireCount,
    maxUsage: z.int().min(1).nullable(),
    expirationDate: wireInstant.nullable(),
    destinationAddress: z.string(),
    token: TokenData,
    pendingPayments: z.array(
      z.object({
        id: z.string(),
        amount: wireAmount,
        sourceTransaction: z.string().nullable(),
        dateCreated: wireInstant,
        confirmations: z
          .object({ seen: wireCount, needed: wireCount })
          .describe(
            "The number of blocks after the payment's own block: `seen` so far, and `needed`. An estimate on some chains.",
          )
          .nullable(),
      }),
    ),
    instructions: z
      .union([PaymentInstructions, SolanaInstructions, BitcoinInstructions])
      .nullable(),
    reason: z.enum(noInstructionsReasons).nullable(),
    wrongToken: z
      .object({ amount: wireAmount, symbol: z.string(), sourceTransaction: z.string() })
      .describe(
        "The newest payment in a token that payers confuse with the link's token, such as USDC.e for USDC. It is not applied.",
      )
      .nullable(),
    payment: CheckoutTransaction.nullable(),
    isSellerVerified: z
      .boolean()
      .describe(
        "Whether the operator of this site has verified the seller. Present only if anyone can sign up.",
      )
      .optional(),
  })
  .meta({ id: "CheckoutLink" });
export type CheckoutLink = z.output<typeof CheckoutLink>;

const IgnoredFieldsHeader = z.object({
  [ignoredFieldsHeader]: z
    .string()
    .regex(/^[\w.-]{1,40}(, [\w.-]{1,40}){0,9}$/)
    .optional()
    .describe(
      "The names of up to ten fields of the body that this operation does not know and has ignored, such as a misspelled " +
        "one. Missing if there are none.",
    ),
});

/** The fields that creates with an API key sent and that were ignored, of one key. */
const IgnoredFields = z
  .object({
    keyId: z.string(),
    names: z.array(z.string()),
    seenAt: wireInstant.meta({ description: "When a create last had ignored fields." }),
  })
  .meta({ id: "IgnoredFields" });

const publicOperation = { path: "/v1/payment-link", tag: "Payment links" } as const;

/** The operations of the public API. */
export const publicLinkOperations = (createBody: z.ZodType) =>
  ({
    create: {
      ...publicOperation,
      method: "post",
      caller: "payment_link:create",
      operationId: "createPaymentLink",
      summary: "Create a payment link",
      body: createBody,
      acceptsIdempotencyKey: true,
      responses: { 200: PaymentLinkCreationData },
      responseHeaders: IgnoredFieldsHeader,
      errors: [
        "PAYMENT_LINK_ACCOUNT_NOT_READY",
        "TEST_MODE_UNAVAILABLE",
        "INVALID_PAYMENT_LINK_AMOUNT",
        "AMOUNT_NOT_PAYABLE",
      ],
      unexpectedError: "CANNOT_CREATE_PAYMENT_LINK",
    },
    list: {
      ...publicOperation,
      method: "get",
      caller: "payment_link:read",
      operationId: "listPaymentLinks",
      summary: "List payment links, newest first",
      query: ListLinksQuery,
      responses: { 200: PaymentLinkPage },
      errors: ["PAYMENT_LINK_ACCOUNT_NOT_READY", "TEST_MODE_UNAVAILABLE"],
      unexpectedError: "CANNOT_FIND_PAYMENT_LINK",
    },
    retrieve: {
      ...publicOperation,
      path: "/v1/payment-link/:id",
      method: "get",
      caller: "anyone",
      operationId: "retrievePaymentLink",
      summary: "Retrieve a payment link with its owner's public profile",
      responses: { 200: RetrievedPaymentLink },
      errors: ["CANNOT_FIND_PAYMENT_LINK"],
    },
  }) as const satisfies Record<string, Operation>;

const consoleOperation = {
  path: "/console/api/payment-links",
  caller: "session",
  tag: "Payment links",
} as const;
const consoleItemOperation = {
  ...consoleOperation,
  path: "/console/api/payment-links/:id",
} as const;

/** The filter of the account's links. Without parameters it matches every live link. */
export const OwnLinksFilter = z.object({
  status: parameter(oneOf(linkStatuses)),
  inactiveReason: parameter(oneOf(inactiveReasons)).describe(
    "Only inactive links that expired, or only those that were deactivated.",
  ),
  q: parameter(text({ lengthMin: 1, lengthMax: 500 })).describe(
    "A complete link id, a complete payment reference (`0x` and 32 hex digits), or a part of the " +
      "link's description, ignoring case.",
  ),
  token: parameter(text({ lengthMin: 1, lengthMax: 64 })).describe(
    "The catalogue id of the link's token.",
  ),
  from: parameter(dateTime).describe("Only links created at or after this time."),
  to: parameter(dateTime).describe("Only links created before this time."),
  ...ModeQuery.shape,
});
export type OwnLinksFilter = z.output<typeof OwnLinksFilter>;

/** Parses the id of a payment link. */
export const linkIdParser = formattedText(
  { pattern: "^plink_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
  (input) => isId("plink", input),
);

/** The query parameters of the console's list. */
export const OwnLinksQuery = z.object({
  ...OwnLinksFilter.shape,
  before: parameter(linkIdParser).describe(
    "Only links created before this one. Use `nextBefore` of the previous page.",
  ),
  ...PageQuery.shape,
});

const OwnPaymentLinkPage = pageOf(OwnPaymentLinkData)
  .extend({
    nextBefore: z
      .string()
      .nullable()
      .meta({
        description:
          "The `before` of the next page, which takes no `offset`. Null on the last page. A search examines 5,000 " +
          "links per request, so there can be a next page although `data` is short or empty.",
      }),
  })
  .meta({ id: "OwnPaymentLinkPage" });

/**
 * The kinds of entries in a link's timeline. Entries with the same time are listed in this order.
 */
export const timelineEntryKinds = [
  "created",
  "expired",
  "payment_seen",
  "payment_ended",
  "completed",
  "deactivated",
  "payment_orphaned",
  "refund_recorded",
] as const;

const TimelineEntry = z
  .object({
    kind: z.enum(timelineEntryKinds).meta({
      description:
        "`payment_ended` means that the payment settled or failed. The payment's `status`, `applied` and " +
        "`reason` contain the result.",
    }),
    at: wireInstant.nullable().meta({ description: "Null if the time was not recorded." }),
    by: z
      .object({ kind: z.enum(["api_key", "session"]), id: z.string() })
      .nullable()
      .meta({ description: "Who created the link, if known. Null for all other kinds." }),
    payment: PaymentData.nullable().meta({
      description:
        "The current state of the payment. For `completed`, the payment that completed the link.",
    }),
    refund: RefundData.nullable().meta({ description: "Null unless `refund_recorded`." }),
  })
  .meta({ id: "StoryEntry" });
export type TimelineEntry = z.output<typeof TimelineEntry>;

const LinkTimeline = z
  .object({
    data: z.array(TimelineEntry),
    nextAfter: z.string().nullable().meta({
      description: "The `after` of the next page. Null if there are no more entries yet.",
    }),
  })
  .meta({ id: "LinkStory" });

const timelineCursorPattern = `^[0-9]{1,14}\\.(${timelineEntryKinds.join("|")})\\.((?:tx|rfd)_[0-9a-z]{26})?$`;

/** Parses a timeline cursor: the time and kind of an entry, and its payment or refund. */
const timelineCursor = formattedText({ pattern: timelineCursorPattern }, (input) =>
  new RegExp(timelineCursorPattern).test(input),
);

/** The query parameters of a link's timeline. */
export const LinkTimelineQuery = z.object({
  order: parameter(oneOf(["asc", "desc"])).describe(
    "`asc` lists the oldest entries first, `desc` the newest. Defaults to `asc`.",
  ),
  after: parameter(timelineCursor).describe(
    "Only entries that follow this one in the order. Use `nextAfter` of the previous page.",
  ),
});

const getTimeline = {
  ...consoleItemOperation,
  path: `${consoleItemOperation.path}/story`,
  method: "get",
  operationId: "getPaymentLinkStory",
  summary: "Get the timeline of one of your payment links",
  query: LinkTimelineQuery,
  responses: { 200: LinkTimeline },
} as const;

const listIgnoredFieldsOperation = {
  ...consoleOperation,
  path: `${consoleOperation.path}/ignored-fields`,
  method: "get",
  operationId: "listIgnoredFields",
  summary: "List the fields that were ignored when your API keys created links, by key",
  query: ModeQuery,
  responses: { 200: listOf(IgnoredFields) },
} as const;

/** The operations on the signed-in user's payment links. */
export const consoleLinkOperations = (createBody: z.ZodType) =>
  ({
    list: {
      ...consoleOperation,
      method: "get",
      operationId: "listOwnPaymentLinks",
      summary: "List your payment links, optionally filtered, newest first",
      query: OwnLinksQuery,
      responses: { 200: OwnPaymentLinkPage },
      errors: ["PAYMENT_LINK_ACCOUNT_NOT_READY", "TEST_MODE_UNAVAILABLE", "NOT_FOUND"],
    },
    create: {
      ...consoleOperation,
      method: "post",
      operationId: "createOwnPaymentLink",
      summary: "Create a payment link",
      query: ModeQuery,
      body: createBody,
      acceptsIdempotencyKey: true,
      responses: { 200: PaymentLinkCreationData },
      responseHeaders: IgnoredFieldsHeader,
      errors: [
        "PAYMENT_LINK_ACCOUNT_NOT_READY",
        "TEST_MODE_UNAVAILABLE",
        "INVALID_PAYMENT_LINK_AMOUNT",
        "AMOUNT_NOT_PAYABLE",
      ],
      unexpectedError: "CANNOT_CREATE_PAYMENT_LINK",
    },
    suggestFirstAddressIndex: {
      ...consoleOperation,
      path: `${consoleOperation.path}/first-address-index`,
      method: "post",
      operationId: "suggestFirstAddressIndex",
      summary: "Suggest the index of the first address that links use on a Bitcoin wallet",
      body: FirstAddressIndexBody,
      responses: { 200: FirstAddressIndexSuggestion },
      errors: ["INVALID_WALLET_ADDRESS", "PRIVATE_KEY_REFUSED"],
    },
    listIgnoredFields: listIgnoredFieldsOperation,
    get: {
      ...consoleItemOperation,
      method: "get",
      operationId: "getOwnPaymentLink",
      summary: "Get one of your payment links with its newest payments",
      responses: { 200: OwnPaymentLink },
    },
    listPayments: {
      ...consoleItemOperation,
      path: `${consoleItemOperation.path}/payments`,
      method: "get",
      operationId: "listPayments",
      summary: "List the payments on one of your payment links, newest first",
      query: PageQuery,
      responses: { 200: pageOf(PaymentData).meta({ id: "PaymentPage" }) },
    },
    getTimeline,
    deactivate: {
      ...consoleItemOperation,
      path: `${consoleItemOperation.path}/deactivate`,
      method: "post",
      operationId: "deactivatePaymentLink",
      summary: "Deactivate an active payment link permanently",
      responses: { 200: PaymentLinkData },
      errors: ["PAYMENT_LINK_NOT_ACTIVE"],
    },
  }) as const satisfies Record<string, Operation>;

/** The query parameters of a link's checkout. */
export const CheckoutQuery = z.object({
  amount: parameter(positiveDecimal).describe(
    "The amount to get instructions for. Defaults to the remaining amount.",
  ),
  sourceTransaction: parameter(text({ lengthMax: 100 })).describe(
    "The hash of a transaction that paid this link. The response's `payment` contains its state.",
  ),
});

/** The query parameters of a link's event stream. */
export const CheckoutEventsQuery = CheckoutQuery.pick({ sourceTransaction: true });

/** Parses the address of a Solana account. */
const solanaAccount = formattedText(
  { pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$" },
  (input) => "address" in parseSolanaAddress(input),
);

/** The body of a wallet's request for a transaction (Solana Pay 1.1). */
export const SolanaTransactionBody = body({ account: required(solanaAccount) });

/** The operations that the checkout page uses. Payers can also call them without the page. */
export const checkoutOperations = {
  getLink: {
    method: "get",
    path: "/checkout/payment-links/:id",
    caller: "anyone",
    tag: "Checkout",
    operationId: "getCheckoutLink",
    summary: "Get the current state of a payment link and how to pay it",
    query: CheckoutQuery,
    responses: { 200: CheckoutLink },
    errors: ["CANNOT_FIND_PAYMENT_LINK", "INVALID_PAYMENT_LINK_AMOUNT"],
  },
  followLink: {
    method: "get",
    path: "/checkout/payment-links/:id/events",
    caller: "anyone",
    tag: "Checkout",
    operationId: "followCheckoutLink",
    summary: "Stream the state of a payment link",
    description:
      "Server-sent events. The data of each `state` event is a `CheckoutLink`. One is sent immediately, unless " +
      "`Last-Event-ID` shows that the client has the current state, and one after each change. A comment is sent " +
      "after 15 seconds without an event. The stream ends after 10 to 15 minutes, or sooner: connect again.",
    query: CheckoutEventsQuery,
    responses: { 200: null },
    mediaTypes: ["text/event-stream"],
    errors: ["CANNOT_FIND_PAYMENT_LINK"],
  },
  getSolanaRequest: {
    method: "get",
    path: "/checkout/solana/:id",
    caller: "anyone",
    tag: "Checkout",
    operationId: "getSolanaRequest",
    summary: "Get the label and icon of a Solana payment request",
    description: "Shown by a wallet that scanned a Solana Pay 1.1 transaction request.",
    responses: { 200: z.object({ label: z.string(), icon: z.string() }) },
    errors: ["CANNOT_FIND_PAYMENT_LINK"],
  },
  makeSolanaTransaction: {
    method: "post",
    path: "/checkout/solana/:id",
    caller: "anyone",
    tag: "Checkout",
    operationId: "makeSolanaTransaction",
    summary: "Create the Solana transaction that pays the remaining amount of a payment link",
    description:
      "Solana Pay 1.1. The transaction is unsigned, of version 0 and in base64. It can be sent for about 1 minute. " +
      "An error response also has a `message` for people, in a language that `Accept-Language` prefers.",
    body: SolanaTransactionBody,
    responses: { 200: z.object({ transaction: z.string(), message: z.string().optional() }) },
    errors: [
      "CANNOT_FIND_PAYMENT_LINK",
      "PAYMENT_LINK_NOT_ACTIVE",
      "ACCOUNT_SUSPENDED",
      "PAYMENT_SEEN",
      "PAYER_IS_OWNER",
      "BALANCE_TOO_LOW",
    ],
  },
  getTransaction: {
    method: "get",
    path: "/checkout/transactions/:id",
    caller: "anyone",
    tag: "Checkout",
    operationId: "getCheckoutTransaction",
    summary: "Get the current state of a payment",
    responses: { 200: CheckoutTransaction },
  },
} as const satisfies Record<string, Operation>;
