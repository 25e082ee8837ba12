import { createHash } from "node:crypto";
import { ApiError, type PaymentLinkData, createApiError, pageSize } from "@payment-links/contracts";

/** A link with the idempotency key of the call that created it. */
export type LedgerLink = { link: PaymentLinkData; apiKey: string; idempotencyKey: string | null };

/** A create request, as far as it matters here. */
export type CreateCall = { apiKey: string; idempotencyKey: string | undefined; body: Buffer };

type StoredResponse = { bodyHash: string; response: { id: string; url: string }; storedAt: number };

const retentionMs = 24 * 60 * 60 * 1_000;
const amountPattern = /^(?!0*(?:\.0*)?$)\d{1,60}(?:\.\d{1,18})?$/;

/** Links in memory, with the idempotency of the service (rules API-19 and API-20). */
export const createLinkLedger = (origin: () => string, now: () => Date = () => new Date()) => {
  const links = new Map<string, LedgerLink>();
  const storedResponses = new Map<string, StoredResponse>();
  /** The creates that are still in progress. */
  const pendingCreates = new Map<string, CreateCall>();

  const insertLink = ({ apiKey, body, idempotencyKey }: CreateCall) => {
    const link = buildLink(origin(), links.size + 1, now(), parseBody(body));
    links.set(link.id, { link, apiKey, idempotencyKey: idempotencyKey ?? null });
    return { id: link.id, url: link.url };
  };

  const handleCreate = (call: CreateCall): { id: string; url: string } => {
    if (call.idempotencyKey === undefined) return insertLink(call);
    const key = toOwnedKey(call);
    if (pendingCreates.has(key)) throw createApiError("IDEMPOTENCY_KEY_IN_USE");
    const bodyHash = createHash("sha256").update(call.body).digest("hex");
    const stored = storedResponses.get(key);
    if (stored !== undefined && stored.storedAt > now().getTime() - retentionMs) {
      if (stored.bodyHash !== bodyHash) throw createApiError("IDEMPOTENCY_KEY_REUSED");
      return stored.response;
    }
    const response = insertLink(call);
    storedResponses.set(key, { bodyHash, response, storedAt: now().getTime() });
    return response;
  };

  const finishPendingCreate = (key: string): void => {
    const call = pendingCreates.get(key);
    pendingCreates.delete(key);
    if (call !== undefined) ignoreRejection(() => handleCreate(call));
  };

  return {
    /** Creates a link, or returns the stored response. Throws an `ApiError` like the service. */
    createLink: handleCreate,
    /** Starts a create that stays in progress until `finishCreate`. */
    startCreate: (call: CreateCall): void => {
      const key = toOwnedKey(call);
      if (call.idempotencyKey === undefined) ignoreRejection(() => handleCreate(call));
      else if (!pendingCreates.has(key)) pendingCreates.set(key, call);
    },
    finishCreate: (call: CreateCall): void => finishPendingCreate(toOwnedKey(call)),
    findLink: (id: string): PaymentLinkData => {
      const { link } = links.get(id) ?? {};
      if (link === undefined) throw createApiError("CANNOT_FIND_PAYMENT_LINK");
      return link;
    },
    /** Lists the links of an API key, newest first. */
    listLinks: (apiKey: string, offset: number) => {
      const ownLinks = [...links.values()].filter((entry) => entry.apiKey === apiKey).reverse();
      const nextOffset = offset + pageSize < ownLinks.length ? offset + pageSize : null;
      const data = ownLinks.slice(offset, offset + pageSize).map(({ link }) => link);
      return { data, limit: pageSize, offset, nextOffset };
    },
    /** Returns all links. Creates that are in progress succeed first. */
    listAll: (): readonly LedgerLink[] => {
      for (const key of pendingCreates.keys()) finishPendingCreate(key);
      return [...links.values()];
    },
  };
};

export type LinkLedger = ReturnType<typeof createLinkLedger>;

/** An API key contains no space, so every pair results in a different text. */
const toOwnedKey = ({ apiKey, idempotencyKey }: CreateCall): string =>
  `${apiKey} ${idempotencyKey}`;

/** Ignores the error of a create whose connection is gone. */
const ignoreRejection = (create: () => unknown): void => {
  try {
    create();
  } catch {
    // A rejected create changes nothing.
  }
};

type Body = { toAmount: string; description: string | null; maxUsage: number | null };

/** Parses the body of a create. Checks only what a client under test can get wrong. */
const parseBody = (bytes: Buffer): Body => {
  const { toAmount, description = null, maxUsage = null } = parseObject(bytes);
  if (toAmount === undefined) throw createValidationError("missing");
  if (typeof toAmount !== "string") throw createValidationError("decimal_type");
  if (!amountPattern.test(toAmount)) throw createValidationError("greater_than");
  return {
    toAmount,
    description: typeof description === "string" ? description : null,
    maxUsage: typeof maxUsage === "number" ? maxUsage : null,
  };
};

const parseObject = (bytes: Buffer): Record<string, unknown> => {
  try {
    const value = JSON.parse(bytes.toString()) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    throw createValidationError("json_invalid");
  }
  throw createValidationError("model_attributes_type");
};

const createValidationError = (code: string): ApiError =>
  new ApiError(422, [{ code, message: "The body is not valid." }]);

const buildLink = (origin: string, number: number, now: Date, body: Body): PaymentLinkData => {
  const id = `plink_${String(number).padStart(26, "0")}`;
  return {
    id,
    userId: "user_00000000000000000000000001",
    ...body,
    destinationAddress: "0x00000000000000000000000000000000000000a1",
    url: `${origin}/@shop/pay/${id}`,
    dateCreated: now.toISOString(),
    token,
    status: "active",
    receivedAmount: "0",
    expirationDate: null,
    transactionUrl: null,
  };
};

const token: PaymentLinkData["token"] = {
  address: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  decimals: 6,
  symbol: "USDC",
  name: "USD Coin",
  logo: null,
  isNative: false,
  isStablecoin: true,
  currencyCode: "USD",
  commodityCode: null,
  chain: {
    id: "8453",
    name: "Base",
    symbol: "ETH",
    chainType: "EVM",
    logo: "https://pay.example.com/checkout/logos/8453.svg",
  },
  priceUsd: null,
  isVerified: true,
};
