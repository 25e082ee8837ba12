// Made by `npm run generate` from the public OpenAPI document. Change nothing here.
export type NewPaymentLink = {
  /** The amount in the token of the owner's default wallet. Greater than 0, with at most 78 digits and no more decimal places than the token has. A string is recommended. */
  toAmount: string | number;
  /** Shown to the payer. */
  description?: string | null | undefined;
  /** The number of payments that complete the link, whatever their amount. Null means that only the amount completes it. */
  maxUsage?: number | null | undefined;
  /** Must be in the future. UTC if it has no offset. Null means that the link never expires. */
  expirationDate?: string | null | undefined;
};
export type TransactionSucceededWebhook = {
  /** The id of the event, as in the header. Use it to detect repeated webhooks. */
  id: string;
  /** When the payment was applied, not when the webhook was sent. */
  createdAt: string;
  type: "payment_link.transaction.succeeded";
  /** The state of the link when this attempt is sent. */
  data: {
    /** The id of the link, `plink_…`. */
    paymentLinkId: string;
    /** The current status; `completed` if this payment completed the link. */
    status: "active" | "completed" | "inactive";
    /** The link's `toAmount`, a plain decimal in whole tokens. */
    amount: string;
    /** The total settled so far. A link completed by `maxUsage` can be underpaid: compare this with `amount`. */
    receivedAmount: string;
    /** The number of payments settled so far. */
    currentUsage: number;
    /** The number of payments that complete the link. Null means that only the amount completes it. */
    maxUsage: number | null;
    /** The id of the chain on which the link is paid. */
    chainId: string;
    /** The address of the token in which the link is paid. */
    tokenAddress: string;
    /** Shown to the payer. */
    description: string | null;
    transaction: WebhookTransaction;
  };
};
export type WebhookTransaction = {
  /** The id of the payment, `tx_…`. */
  id: string;
  /** `settled`: the payment is final and applied to the link. */
  status: "processing" | "settled" | "failed";
  /** The amount paid, a plain decimal in whole tokens. */
  amount: string;
  /** The address of the received token. */
  tokenAddress: string;
  /** The id of the chain on which the payment was received. */
  chainId: string;
  /** The hash of the payer's transaction, which may be on another chain. */
  sourceTransaction: string | null;
  /** When the payment was first seen. */
  dateCreated: string;
};
export type CompletedWebhook = {
  /** The id of the event, as in the header. Use it to detect repeated webhooks. */
  id: string;
  /** When the payment was applied, not when the webhook was sent. */
  createdAt: string;
  type: "payment_link.completed";
  /** The state of the link when this attempt is sent. */
  data: {
    /** The id of the link, `plink_…`. */
    paymentLinkId: string;
    /** The current status; `completed` if this payment completed the link. */
    status: "active" | "completed" | "inactive";
    /** The link's `toAmount`, a plain decimal in whole tokens. */
    amount: string;
    /** The total settled so far. A link completed by `maxUsage` can be underpaid: compare this with `amount`. */
    receivedAmount: string;
    /** The number of payments settled so far. */
    currentUsage: number;
    /** The number of payments that complete the link. Null means that only the amount completes it. */
    maxUsage: number | null;
    /** The id of the chain on which the link is paid. */
    chainId: string;
    /** The address of the token in which the link is paid. */
    tokenAddress: string;
    /** Shown to the payer. */
    description: string | null;
  };
};
export type TransactionUnappliedWebhook = {
  /** The id of the event, as in the header. Use it to detect repeated webhooks. */
  id: string;
  /** When it was decided that the payment does not count. */
  createdAt: string;
  type: "payment_link.transaction.unapplied";
  /** The state of the link when this attempt is sent. */
  data: {
    /** The id of the link, `plink_…`. */
    paymentLinkId: string;
    /** The current status. The payment did not change it. */
    status: "active" | "completed" | "inactive";
    /** The link's `toAmount`, a plain decimal in whole tokens. */
    amount: string;
    /** The total settled so far. A link completed by `maxUsage` can be underpaid: compare this with `amount`. */
    receivedAmount: string;
    /** The number of payments settled so far. */
    currentUsage: number;
    /** The number of payments that complete the link. Null means that only the amount completes it. */
    maxUsage: number | null;
    /** The id of the chain on which the link is paid. */
    chainId: string;
    /** The address of the token in which the link is paid. */
    tokenAddress: string;
    /** Shown to the payer. */
    description: string | null;
    transaction: UnappliedWebhookTransaction;
  };
};
export type UnappliedWebhookTransaction = {
  /** The id of the payment, `tx_…`. */
  id: string;
  /** `settled`: the payment is final, although it does not count. */
  status: "processing" | "settled" | "failed";
  /** The amount paid, a plain decimal in whole tokens. */
  amount: string;
  /** The address of the received token. */
  tokenAddress: string;
  /** The id of the chain on which the payment was received. */
  chainId: string;
  /** The hash of the payer's transaction, which may be on another chain. */
  sourceTransaction: string | null;
  /** When the payment was first seen. */
  dateCreated: string;
  /** Why the payment does not count. `wrong_token`: another token or chain. `wrong_destination`: another address. `wrong_amount`: finer than the token. `completed`, `expired`, `inactive`: the link no longer accepted payments. */
  reason: "wrong_token" | "wrong_destination" | "wrong_amount" | "completed" | "expired" | "inactive";
};
export type Webhook = {
  /** The id of the event, as in the header. Use it to detect repeated webhooks. */
  id: string;
  /** When the payment was applied, not when the webhook was sent. */
  createdAt: string;
  /** New types may be added. Ignore a type that you do not know. */
  type: string;
  /** Depends on `type`. */
  data: Record<string, unknown>;
};
export type PaymentLinkCreationData = {
  /** The id of the link, `plink_…`. */
  id: string;
  /** The checkout page. Send this URL to the payer. */
  url: string;
};
export type Errors = {
  /** Handle the first entry. Only validation errors have several entries. */
  errors: ({
    /** A human-readable message. It may change. */
    message: string;
    /** A machine-readable code. New codes may be added. */
    code: string;
    /** With `REAUTHENTICATION_REQUIRED`, the methods by which the user can prove presence. */
    methods?: (string)[] | undefined;
  })[];
};
export type PaymentLinkPage = {
  /** The entries of this page, in list order. */
  data: (PaymentLinkData)[];
  /** The maximum number of entries per page. */
  limit: number;
  /** The number of filtered entries before this page. */
  offset: number;
  /** The `offset` of the next page. Null on the last page. */
  nextOffset: number | null;
};
export type PaymentLinkData = {
  /** The id of the link, `plink_…`. */
  id: string;
  /** The id of the owner, `user_…`. */
  userId: string;
  /** The requested amount, a plain decimal in whole tokens of `token`. */
  toAmount: string;
  /** The owner's address that receives the payments. It never changes. */
  destinationAddress: string;
  /** The checkout page for the payer. */
  url: string;
  /** When the link was created. */
  dateCreated: string;
  token: TokenData;
  /** `inactive` means expired or deactivated. Only an `active` link accepts payments, but a payment that was sent before the link expired is still applied. */
  status: "active" | "completed" | "inactive";
  /** Shown to the payer. */
  description: string | null;
  /** The number of payments that complete the link. Null means that only the amount completes it. */
  maxUsage: number | null;
  /** The total of applied payments so far, in the same form as `toAmount`. A link completed by `maxUsage` can be underpaid: compare this with `toAmount`. */
  receivedAmount: string;
  /** When the link expires. Null means never. */
  expirationDate: string | null;
  /** The receipt page of the last applied payment. Null in lists, and until the link is completed. */
  transactionUrl: string | null;
};
export type TokenData = {
  /** The address of the contract or mint on `chain`. */
  address: string;
  /** The maximum number of decimal places of an amount. 1 token is 10^decimals base units. */
  decimals: number;
  /** Such as `USDC`. Several tokens can share a symbol. */
  symbol: string;
  /** The display name. */
  name: string;
  /** Always null for now. */
  logo: string | null;
  /** Whether the token is the chain's native coin. */
  isNative: boolean | null;
  /** Whether the token tracks a currency. */
  isStablecoin: boolean | null;
  /** The ISO 4217 code of the currency that a stablecoin tracks. */
  currencyCode: string | null;
  /** The code of the commodity that the token tracks. */
  commodityCode: string | null;
  chain: ChainData;
  /** Always null for now. */
  priceUsd: string | null;
  /** Whether the token is in the catalogue. */
  isVerified: boolean | null;
};
export type ChainData = {
  /** The decimal chain id on EVM chains, otherwise a name such as `solana` or `bitcoin`. */
  id: string;
  /** The display name. */
  name: string;
  /** The symbol of the chain's native coin. */
  symbol: string;
  /** The chain family: `EVM`, `SVM` (Solana), `TVM` (Tron) or `BVM` (Bitcoin). */
  chainType: "EVM" | "SVM" | "TVM" | "BVM";
  /** The URL of an image. */
  logo: string;
};
export type RetrievedPaymentLink = {
  /** The id of the link, `plink_…`. */
  id: string;
  /** The id of the owner, `user_…`. */
  userId: string;
  /** The requested amount, a plain decimal in whole tokens of `token`. */
  toAmount: string;
  /** The owner's address that receives the payments. It never changes. */
  destinationAddress: string;
  /** The checkout page for the payer. */
  url: string;
  /** When the link was created. */
  dateCreated: string;
  token: TokenData;
  /** `inactive` means expired or deactivated. Only an `active` link accepts payments, but a payment that was sent before the link expired is still applied. */
  status: "active" | "completed" | "inactive";
  /** Shown to the payer. */
  description: string | null;
  /** The number of payments that complete the link. Null means that only the amount completes it. */
  maxUsage: number | null;
  /** The total of applied payments so far, in the same form as `toAmount`. A link completed by `maxUsage` can be underpaid: compare this with `toAmount`. */
  receivedAmount: string;
  /** When the link expires. Null means never. */
  expirationDate: string | null;
  /** The receipt page of the last applied payment. Null in lists, and until the link is completed. */
  transactionUrl: string | null;
  user: UserData;
};
export type UserData = {
  /** The id of the owner, `user_…`. */
  id: string;
  /** Without the leading `@`. The handle can change. */
  handle: string;
  /** The display name. */
  username: string;
  /** When the account was created. */
  dateCreated: string;
  wallet: UserWalletData;
  /** The URL of an image. */
  profileImage: string | null;
  /** A text by the owner about themselves. */
  bio: string | null;
  /** The URL of an image. */
  backgroundImage: string | null;
  /** `#` and six hex digits. */
  backgroundColour: string | null;
  /** URLs that the owner has chosen. */
  links: (string)[] | null;
  /** Whether the owner has an account. */
  isMooveUser: boolean | null;
  /** Always null, because it is not public. */
  contact: Record<string, unknown> | null;
  /** Always null for now. */
  badges: (Record<string, unknown>)[] | null;
};
export type UserWalletData = {
  /** The address that receives payments. */
  walletAddress: string;
  /** The token that the wallet receives. */
  token: {
    /** The id of the token in the catalogue. */
    id: string;
    token: TokenData;
  };
  /** The family of the token's chain. */
  chainType: "EVM" | "SVM" | "TVM" | "BVM";
  /** Whether new links use this wallet. */
  isDefault: boolean;
  /** Whether this is the default wallet of its chain. */
  isChainDefault: boolean;
  /** The provider of the wallet, if known. */
  provider: string | null;
};
/** Which links a list has. */
export type PaymentLinksFilter = {
  /** Only links with this status. Defaults to all links. */
  status?: "active" | "completed" | "inactive" | undefined;
  /** The number of entries to skip: `nextOffset` of the previous page. Defaults to 0. New entries shift the pages, so skip an `id` that you have already received. */
  offset?: number | undefined;
};
/** The bodies of webhooks by their type, as far as this version knows types. */
export type WebhookBodies = {
  "payment_link.transaction.succeeded": TransactionSucceededWebhook;
  "payment_link.completed": CompletedWebhook;
  "payment_link.transaction.unapplied": TransactionUnappliedWebhook;
};
