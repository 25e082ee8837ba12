import * as z from "zod";
import { LinkStatus, PaymentStatus, linkStatuses } from "../events.ts";
import { isId } from "../ids.ts";
import {
  ListLinksQuery,
  PageQuery,
  PaymentLinkCreationData,
  PaymentLinkData,
  PaymentLinkPage,
  RetrievedPaymentLink,
  TokenData,
} from "../payment-link.ts";
import { parseSolanaAddress } from "../solana-address.ts";
import {
  type Parser,
  body,
  dateTime,
  oneOf,
  parameter,
  positiveDecimal,
  required,
  text,
} from "../validation.ts";
import { type Operation, pageOf, wireAmount, wireCount, wireInstant } from "./operation.ts";

/**
 * Why a settled payment was not applied; the first matching reason wins (rule STATE-7). `duplicate`
 * and `conflict` mark further reports of a transfer that another payment already reports (rule
 * STATE-14).
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
 * Why a payer gets no payment instructions:
 * - the link accepts no payments, or no longer does
 * - its chain is not watched by this installation
 * - no fee proxy supports its token
 * - the amount is larger than the token's maximum
 * - nobody could spend what its destination receives
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

const paymentFields = {
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
          "The payment that reports the same transfer and was judged first. Only for the reasons " +
          "`duplicate` and `conflict`.",
      }),
    orphaned: z
      .literal(true)
      .optional()
      .meta({
        description:
          "Its chain took it away: the money is not there. After it had settled it counts all the same. The field is " +
          "gone once the chain has it again.",
      }),
  })
  .meta({ id: "PaymentData" });
export type PaymentData = z.output<typeof PaymentData>;

/** A payment as the account's owner sees it, listed with payments on other links. */
export const OwnPaymentData = PaymentData.extend({ paymentLinkId: z.string() }).meta({
  id: "OwnPaymentData",
});
export type OwnPaymentData = z.output<typeof OwnPaymentData>;

const OwnPaymentLink = PaymentLinkData.extend({
  payments: z.array(PaymentData).meta({ description: "The newest 100." }),
  addressGap: wireCount.nullable().meta({
    description:
      "On Bitcoin how many addresses in a row, up to the newest of the wallet's key, were never paid. " +
      "Above 20 most wallets no longer look that far for payments: raise the gap limit " +
      "there. Null on other chains.",
  }),
  unsendableRemainder: z
    .object({ amount: wireAmount, smallestPayment: wireAmount })
    .optional()
    .meta({
      description:
        "What an active link lacks, if no payment on its chain can be so small: nobody can complete the " +
        "link by it. The owner may deactivate the link.",
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
        "A node told which addresses were used. Otherwise the owner must look into the wallet.",
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
    value: z.string().meta({ description: "In the native coin's base units." }),
    data: z.string(),
    tron: z
      .object({
        functionSelector: z.string(),
        parameter: z.string().meta({ description: "`data` without its first four bytes." }),
        energyMax: wireCount.meta({ description: "The energy that the call may take." }),
        feeLimit: z.string().meta({
          description: "In sun: what the payer burns at most, who has no energy.",
        }),
      })
      .optional()
      .meta({ description: "On Tron: the call as TronWeb's `triggerSmartContract` takes it." }),
  })
  .meta({ id: "PaymentStep" });

/** The ways to pay through contracts, ordered from the least to the most effort for the payer. */
export const paymentWays = ["batch", "suffix", "approve_and_pay", "pay"] as const;

const PaymentWay = z
  .object({
    kind: z.enum(paymentWays).meta({
      description:
        "`batch`: all steps as one, by a wallet that carries them out atomically (EIP-5792, " +
        "`wallet_sendCalls`). `suffix`: the token's own transfer to the owner, with the payment reference " +
        "behind its calldata, sent exactly as it stands here and by an account without code of its own. " +
        "`approve_and_pay`: one step after the other. `pay`: the one step of a chain's own coin.",
    }),
    signatures: wireCount.meta({
      description: "How often the payer signs; less where an allowance stands already.",
    }),
    steps: z.array(PaymentStep),
  })
  .meta({ id: "PaymentWay" });

const baseUnits = z
  .string()
  .regex(/^[0-9]+$/)
  .meta({ description: "The same as an integer, in the token's base units." });

const PaymentInstructions = z
  .object({
    amount: wireAmount,
    amountBaseUnits: baseUnits,
    proxyAddress: z.string(),
    paymentReference: z.string(),
    steps: z.array(PaymentStep).meta({
      description: "Those that every wallet takes: of the last way.",
    }),
    ways: z.array(PaymentWay).meta({
      description:
        "All ways that pay the same, in the order in which to try them: the first that the payer's " +
        "wallet can go, and one of them only.",
    }),
  })
  .meta({
    id: "PaymentInstructions",
    description: "On EVM chains and Tron; there all addresses are in base58check.",
  });

const SolanaInstructions = z
  .object({
    amount: wireAmount,
    amountBaseUnits: baseUnits,
    transferRequestUrl: z.string().meta({ description: "A transfer request of Solana Pay." }),
    transactionRequestUrl: z.string().nullable().meta({
      description:
        "A transaction request of Solana Pay; null where the checkout is not served by https, or for SOL.",
    }),
    recipient: z.string().meta({ description: "The owner's wallet, not its token account." }),
    splToken: z.string().nullable().meta({ description: "The token's mint; null for SOL." }),
    tokenProgram: z.enum(["token", "token-2022"]).nullable(),
    reference: z.string().meta({
      description: "The key that the transfer names, read-only, so that it is found.",
    }),
  })
  .meta({ id: "SolanaInstructions" });

const BitcoinInstructions = z
  .object({
    amount: wireAmount,
    amountBaseUnits: baseUnits,
    uri: z.string().meta({ description: "A payment request of BIP-21." }),
    address: z.string().meta({ description: "The link's own address." }),
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
            "Blocks on top of the payment's own, of those that it needs; an estimate on some chains.",
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
        "The newest payment in a token that is mistaken for the link's, as USDC.e is for USDC. It does not count.",
      )
      .nullable(),
    payment: CheckoutTransaction.nullable(),
    isSellerVerified: z
      .boolean()
      .describe(
        "Whether the operator of this site vouches for the seller. Present only where anyone may sign up.",
      )
      .optional(),
  })
  .meta({ id: "CheckoutLink" });
export type CheckoutLink = z.output<typeof CheckoutLink>;

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
      errors: [
        "PAYMENT_LINK_ACCOUNT_NOT_READY",
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
      errors: ["PAYMENT_LINK_ACCOUNT_NOT_READY"],
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

/** The filter of the account's links. Without parameters it matches every link. */
export const OwnLinksFilter = z.object({
  status: parameter(oneOf(linkStatuses)),
  q: parameter(text({ lengthMin: 1, lengthMax: 500 })).describe(
    "A link's whole id, a whole payment reference (`0x` and 32 hex digits), or else a text that its " +
      "description has, whatever the case.",
  ),
  token: parameter(text({ lengthMin: 1, lengthMax: 64 })).describe(
    "The catalogue's id of the token that the link asks for.",
  ),
  from: parameter(dateTime).describe("The earliest time of creation."),
  to: parameter(dateTime).describe("The first time of creation that is too late."),
});
export type OwnLinksFilter = z.output<typeof OwnLinksFilter>;

/** Parses the id of a payment link. */
export const linkIdParser: Parser<string> = {
  schema: { type: "string", pattern: "^plink_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
  parse: (input) => {
    if (typeof input !== "string") return "string_type";
    return isId("plink", input) ? { value: input } : "string_pattern_mismatch";
  },
};

/** The query parameters of the console's list. */
export const OwnLinksQuery = z.object({
  ...OwnLinksFilter.shape,
  before: parameter(linkIdParser).describe(
    "Only links made before this one: `nextBefore` of the page before.",
  ),
  ...PageQuery.shape,
});

const OwnPaymentLinkPage = pageOf(PaymentLinkData)
  .extend({
    nextBefore: z
      .string()
      .nullable()
      .meta({
        description:
          "The `before` of the page that follows, with no `offset`. It may be there although `data` " +
          "is short or empty: a search looks at 5,000 links and then says how far it came. Null when " +
          "nothing follows.",
      }),
  })
  .meta({ id: "OwnPaymentLinkPage" });

/**
 * The kinds of entries in a link's timeline, in the order in which entries of one instant are
 * listed.
 */
export const timelineEntryKinds = [
  "created",
  "expired",
  "payment_seen",
  "payment_ended",
  "completed",
  "deactivated",
  "payment_orphaned",
] as const;

const TimelineEntry = z
  .object({
    kind: z.enum(timelineEntryKinds).meta({
      description:
        "A payment ends when it settles or fails: its `status`, and whether it was `applied` or for what " +
        "`reason` not, are the payment's own.",
    }),
    at: wireInstant.nullable().meta({ description: "Null where it was not written down." }),
    by: z
      .object({ kind: z.enum(["api_key", "session"]), id: z.string() })
      .nullable()
      .meta({ description: "Who made the link, where that is known; null for all else." }),
    payment: PaymentData.nullable().meta({
      description: "As it is now. Of `completed` it is the payment that completed the link.",
    }),
  })
  .meta({ id: "StoryEntry" });
export type TimelineEntry = z.output<typeof TimelineEntry>;

const LinkTimeline = z
  .object({
    data: z.array(TimelineEntry),
    nextAfter: z
      .string()
      .nullable()
      .meta({ description: "The `after` of what follows; null if nothing does by now." }),
  })
  .meta({ id: "LinkStory" });

const timelineCursorPattern = `^[0-9]{1,14}\\.(${timelineEntryKinds.join("|")})\\.(tx_[0-9a-z]{26})?$`;

/** Parses a timeline cursor: the time, kind and payment of an entry. */
const timelineCursor: Parser<string> = {
  schema: { type: "string", pattern: timelineCursorPattern },
  parse: (input) => {
    if (typeof input !== "string") return "string_type";
    return new RegExp(timelineCursorPattern).test(input)
      ? { value: input }
      : "string_pattern_mismatch";
  },
};

/** The query parameters of a link's timeline. */
export const LinkTimelineQuery = z.object({
  after: parameter(timelineCursor).describe(
    "Only what happened later: `nextAfter` of the page before.",
  ),
});

const getTimeline = {
  ...consoleItemOperation,
  path: `${consoleItemOperation.path}/story`,
  method: "get",
  operationId: "getPaymentLinkStory",
  summary: "Get what happened with an own payment link, in order, oldest first",
  query: LinkTimelineQuery,
  responses: { 200: LinkTimeline },
} as const;

/** The operations on the signed-in user's payment links. */
export const consoleLinkOperations = (createBody: z.ZodType) =>
  ({
    list: {
      ...consoleOperation,
      method: "get",
      operationId: "listOwnPaymentLinks",
      summary: "List the own payment links, or those that are looked for, newest first",
      query: OwnLinksQuery,
      responses: { 200: OwnPaymentLinkPage },
      errors: ["PAYMENT_LINK_ACCOUNT_NOT_READY", "NOT_FOUND"],
    },
    create: {
      ...consoleOperation,
      method: "post",
      operationId: "createOwnPaymentLink",
      summary: "Create a payment link",
      body: createBody,
      acceptsIdempotencyKey: true,
      responses: { 200: PaymentLinkCreationData },
      errors: [
        "PAYMENT_LINK_ACCOUNT_NOT_READY",
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
      summary: "Suggest the first address of a wallet on Bitcoin that links get",
      body: FirstAddressIndexBody,
      responses: { 200: FirstAddressIndexSuggestion },
      errors: ["INVALID_WALLET_ADDRESS", "PRIVATE_KEY_REFUSED"],
    },
    get: {
      ...consoleItemOperation,
      method: "get",
      operationId: "getOwnPaymentLink",
      summary: "Get an own payment link with its newest payments",
      responses: { 200: OwnPaymentLink },
    },
    listPayments: {
      ...consoleItemOperation,
      path: `${consoleItemOperation.path}/payments`,
      method: "get",
      operationId: "listPayments",
      summary: "List the payments of an own payment link, newest first",
      query: PageQuery,
      responses: { 200: pageOf(PaymentData).meta({ id: "PaymentPage" }) },
    },
    getTimeline,
    deactivate: {
      ...consoleItemOperation,
      path: `${consoleItemOperation.path}/deactivate`,
      method: "post",
      operationId: "deactivatePaymentLink",
      summary: "Take no more payments on an active payment link, for ever",
      responses: { 200: PaymentLinkData },
      errors: ["PAYMENT_LINK_NOT_ACTIVE"],
    },
  }) as const satisfies Record<string, Operation>;

/** The query parameters of a link's checkout. */
export const CheckoutQuery = z.object({
  amount: parameter(positiveDecimal).describe(
    "Asks for the instructions of another amount than the one that remains.",
  ),
  sourceTransaction: parameter(text({ lengthMax: 100 })).describe(
    "The hash of a transaction that paid this link; the answer's `payment` says what became of it.",
  ),
});

/** The query parameters of a link's event stream. */
export const CheckoutEventsQuery = CheckoutQuery.pick({ sourceTransaction: true });

/** Parses the address of a Solana account. */
const solanaAccount: Parser<string> = {
  schema: { type: "string", pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$" },
  parse: (input) => {
    if (typeof input !== "string") return "string_type";
    return "address" in parseSolanaAddress(input) ? { value: input } : "string_pattern_mismatch";
  },
};

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
    summary: "Get how a payment link stands right now and how it is paid on its chain",
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
    summary: "Follow how a payment link stands",
    description:
      "Server-sent events. The data of each event `state` is a `CheckoutLink`: at once, unless " +
      "`Last-Event-ID` says that it is known, and whenever it changes. A comment comes where nothing else " +
      "did for 15 seconds. The stream ends after 10 to 15 minutes, or sooner: whoever follows comes again.",
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
    summary: "Get who asks for a payment on Solana",
    description: "What a wallet shows that scanned a transaction request of Solana Pay 1.1.",
    responses: { 200: z.object({ label: z.string(), icon: z.string() }) },
    errors: ["CANNOT_FIND_PAYMENT_LINK"],
  },
  makeSolanaTransaction: {
    method: "post",
    path: "/checkout/solana/:id",
    caller: "anyone",
    tag: "Checkout",
    operationId: "makeSolanaTransaction",
    summary:
      "Get the transaction by which an account on Solana pays what remains of a payment link",
    description:
      "Solana Pay 1.1. The transaction is unsigned, of version 0, in base64, and can be sent for about a " +
      "minute. A refusal has beside `errors` a `message` for people, by `Accept-Language`.",
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
    summary: "Get how a payment stands right now",
    responses: { 200: CheckoutTransaction },
  },
} as const satisfies Record<string, Operation>;
