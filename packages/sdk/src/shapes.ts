// Made by `npm run generate` from the public OpenAPI document. Change nothing here.
export type NewPaymentLink = {
  /** Greater than 0, of at most 78 digits and no finer than the settlement token of the owner's default wallet, in which it is. A string is recommended. */
  toAmount: string | number;
  /** What the payer sees. */
  description?: string | null | undefined;
  /** How many payments complete the link, whatever was received; no number of them where null. */
  maxUsage?: number | null | undefined;
  /** In the future; UTC without an offset. Never where null. */
  expirationDate?: string | null | undefined;
};
export type TransactionSucceededWebhook = {
  /** As in the header: what repeats are known by. */
  id: string;
  /** When the payment was applied, not when this was sent. */
  createdAt: string;
  type: "payment_link.transaction.succeeded";
  /** The link as it stands when this attempt is sent. */
  data: {
    /** `plink_…` */
    paymentLinkId: string;
    /** As it is by now; of a completing payment `completed`. */
    status: "active" | "completed" | "inactive";
    /** The link's `toAmount`: a plain decimal of whole tokens. */
    amount: string;
    /** Total settled so far. A link completed by usage may be underpaid: compare it with amount. */
    receivedAmount: string;
    /** How many payments settled so far. */
    currentUsage: number;
    /** How many payments complete the link; no number of them where null. */
    maxUsage: number | null;
    /** The chain's on which the link is paid. */
    chainId: string;
    /** The token's in which it is paid. */
    tokenAddress: string;
    /** What the payer sees. */
    description: string | null;
    transaction: WebhookTransaction;
  };
};
export type WebhookTransaction = {
  /** The payment's, `tx_…`. */
  id: string;
  /** `settled`: it counts, and is final. */
  status: "processing" | "settled" | "failed";
  /** What was paid: a plain decimal of whole tokens. */
  amount: string;
  /** The token's that was received. */
  tokenAddress: string;
  /** The chain's on which it was received. */
  chainId: string;
  /** The hash of the payer's transaction, which may be on another chain. */
  sourceTransaction: string | null;
  /** When the payment was first seen. */
  dateCreated: string;
};
export type CompletedWebhook = {
  /** As in the header: what repeats are known by. */
  id: string;
  /** When the payment was applied, not when this was sent. */
  createdAt: string;
  type: "payment_link.completed";
  /** The link as it stands when this attempt is sent. */
  data: {
    /** `plink_…` */
    paymentLinkId: string;
    /** As it is by now; of a completing payment `completed`. */
    status: "active" | "completed" | "inactive";
    /** The link's `toAmount`: a plain decimal of whole tokens. */
    amount: string;
    /** Total settled so far. A link completed by usage may be underpaid: compare it with amount. */
    receivedAmount: string;
    /** How many payments settled so far. */
    currentUsage: number;
    /** How many payments complete the link; no number of them where null. */
    maxUsage: number | null;
    /** The chain's on which the link is paid. */
    chainId: string;
    /** The token's in which it is paid. */
    tokenAddress: string;
    /** What the payer sees. */
    description: string | null;
  };
};
export type Webhook = {
  /** As in the header: what repeats are known by. */
  id: string;
  /** When the payment was applied, not when this was sent. */
  createdAt: string;
  /** The set is open: new types may be added, and a receiver ignores what it knows not. */
  type: string;
  /** By its type. */
  data: Record<string, unknown>;
};
export type PaymentLinkCreationData = {
  /** The link's, `plink_…`. */
  id: string;
  /** The checkout page: send the payer there. */
  url: string;
};
export type Errors = {
  /** The first is what to go by; validation alone tells several. */
  errors: ({
    /** For people; it may change. */
    message: string;
    /** For programs. The set is open. */
    code: string;
    /** With `REAUTHENTICATION_REQUIRED`: how the account can prove presence. */
    methods?: (string)[] | undefined;
  })[];
};
export type PaymentLinkPage = {
  /** The page's entries, in the list's order. */
  data: (PaymentLinkData)[];
  /** How many entries a page has at most. */
  limit: number;
  /** How many entries of the filtered list come before. */
  offset: number;
  /** The `offset` of the page that follows; null if nothing does. */
  nextOffset: number | null;
};
export type PaymentLinkData = {
  /** The link's, `plink_…`. */
  id: string;
  /** Its owner's, `user_…`. */
  userId: string;
  /** What is asked for: a plain decimal of whole tokens, in the link's `token`. */
  toAmount: string;
  /** The owner's address at which the link is paid, fixed when it was made. */
  destinationAddress: string;
  /** The checkout page, for the payer. */
  url: string;
  /** When it was made. */
  dateCreated: string;
  token: TokenData;
  /** `inactive` once it expired or was deactivated. Only an `active` link takes payments, but that one which was sent before a link expired still counts. */
  status: "active" | "completed" | "inactive";
  /** What the payer sees. */
  description: string | null;
  /** How many payments complete the link; no number of them where null. */
  maxUsage: number | null;
  /** Total paid against the link so far, as `toAmount`. A link completed by usage may be underpaid: compare it with toAmount. */
  receivedAmount: string;
  /** When it becomes inactive by itself; never where null. */
  expirationDate: string | null;
  /** The receipt of the payment that counted last, of a completed link asked for alone; else null. */
  transactionUrl: string | null;
};
export type TokenData = {
  /** The contract's or mint's, on `chain`. */
  address: string;
  /** How many decimal places an amount of it has at most; 1 is ten to that power base units. */
  decimals: number;
  /** Such as `USDC`; several tokens may have it. */
  symbol: string;
  /** For people. */
  name: string;
  /** Null: there is none by now. */
  logo: string | null;
  /** Whether it is the chain's own coin. */
  isNative: boolean | null;
  /** Whether it follows a currency. */
  isStablecoin: boolean | null;
  /** ISO 4217, of a stablecoin. */
  currencyCode: string | null;
  /** Of what follows a commodity. */
  commodityCode: string | null;
  chain: ChainData;
  /** Null: no price is told by now. */
  priceUsd: string | null;
  /** Whether the catalogue has it. */
  isVerified: boolean | null;
};
export type ChainData = {
  /** On EVM chains the decimal chain id; else a word such as `solana` or `bitcoin`. */
  id: string;
  /** For people. */
  name: string;
  /** That of the chain's own coin. */
  symbol: string;
  /** The family: `EVM`, Solana, Tron or Bitcoin. */
  chainType: "EVM" | "SVM" | "TVM" | "BVM";
  /** An image's URL. */
  logo: string;
};
export type RetrievedPaymentLink = {
  /** The link's, `plink_…`. */
  id: string;
  /** Its owner's, `user_…`. */
  userId: string;
  /** What is asked for: a plain decimal of whole tokens, in the link's `token`. */
  toAmount: string;
  /** The owner's address at which the link is paid, fixed when it was made. */
  destinationAddress: string;
  /** The checkout page, for the payer. */
  url: string;
  /** When it was made. */
  dateCreated: string;
  token: TokenData;
  /** `inactive` once it expired or was deactivated. Only an `active` link takes payments, but that one which was sent before a link expired still counts. */
  status: "active" | "completed" | "inactive";
  /** What the payer sees. */
  description: string | null;
  /** How many payments complete the link; no number of them where null. */
  maxUsage: number | null;
  /** Total paid against the link so far, as `toAmount`. A link completed by usage may be underpaid: compare it with toAmount. */
  receivedAmount: string;
  /** When it becomes inactive by itself; never where null. */
  expirationDate: string | null;
  /** The receipt of the payment that counted last, of a completed link asked for alone; else null. */
  transactionUrl: string | null;
  user: UserData;
};
export type UserData = {
  /** The owner's, `user_…`. */
  id: string;
  /** Without the `@` before it; it may change. */
  handle: string;
  /** The name to show. */
  username: string;
  /** When the account was opened. */
  dateCreated: string;
  wallet: UserWalletData;
  /** An image's URL. */
  profileImage: string | null;
  /** What the owner says of themselves. */
  bio: string | null;
  /** An image's URL. */
  backgroundImage: string | null;
  /** `#` and six hex digits. */
  backgroundColour: string | null;
  /** URLs of the owner's choice. */
  links: (string)[] | null;
  /** Whether the owner has an account. */
  isMooveUser: boolean | null;
  /** Null: it is not public. */
  contact: Record<string, unknown> | null;
  /** Null: there are none by now. */
  badges: (Record<string, unknown>)[] | null;
};
export type UserWalletData = {
  /** Where it is paid. */
  walletAddress: string;
  /** The one token in which it is paid. */
  token: {
    /** Its id in the catalogue. */
    id: string;
    token: TokenData;
  };
  /** The family of the token's chain. */
  chainType: "EVM" | "SVM" | "TVM" | "BVM";
  /** Whether new links are paid there. */
  isDefault: boolean;
  /** Whether it is the default of its chain. */
  isChainDefault: boolean;
  /** Whose wallet it is, where known. */
  provider: string | null;
};
/** Which links a list has. */
export type PaymentLinksFilter = {
  /** Only such; all where nothing is said. */
  status?: "active" | "completed" | "inactive" | undefined;
  /** How many entries to pass over: `nextOffset` of the page before; 0 where nothing is said. Things made meanwhile move the entries: whoever wants them all leaves out repeats by `id`. */
  offset?: number | undefined;
};
/** The bodies of webhooks by their type, as far as this version knows types. */
export type WebhookBodies = {
  "payment_link.transaction.succeeded": TransactionSucceededWebhook;
  "payment_link.completed": CompletedWebhook;
};
