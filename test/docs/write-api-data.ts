import {
  type ApiErrorEntry,
  type Operation,
  type WebhookTransaction,
  type WebhookType,
  Decimal,
  createApiError,
  createLinkBody,
  createValidationError,
  getApiErrorStatus,
  listApiErrorCodes,
  loadCatalogue,
  pageSize,
  publicLinkOperations,
  serializeToken,
  testModeOperations,
  webhookBodies,
  webhookTypes,
} from "@payment-links/contracts";
// Imports from `src`, because the services do not export these. Running services would need a
// database.
import { describePublicApi } from "../../services/links-api/src/http/describe-public-api.ts";
import {
  serializeListedLink,
  serializeRetrievedLink,
} from "../../services/links-api/src/http/serialize-link.ts";
import type { OwnedLinkView } from "../../services/links-api/src/domain/link-view.ts";
import type { StoredTransaction } from "../../services/webhook-dispatcher/src/domain/attempt.ts";
import { createWebhookHeaders } from "../../services/webhook-dispatcher/src/domain/signature.ts";
import { serializeWebhookBody } from "../../services/webhook-dispatcher/src/domain/webhook-body.ts";

/** The path of the docs' generated data, relative to the root. */
export const apiDataFile = "packages/docs/generated/api.json";

const baseUrl = "https://pay.example.com";
const createBody = createLinkBody(() => new Date("2026-11-21T10:00:00.000Z"));
const operations = publicLinkOperations(createBody);

/**
 * Writes what the docs show about the public API as JSON: its OpenAPI document, and samples of
 * requests, responses and webhooks that the services' own serializers wrote.
 */
export const writeApiData = (): string =>
  `${JSON.stringify(
    {
      document: describePublicApi({ baseUrl, createBody, webhookHeaderPrefix: "Service" }),
      operations: createOperationSamples(),
      webhooks: Object.fromEntries(webhookTypes.map((type) => [type, createWebhook(type)])),
    },
    undefined,
    2,
  )}\n`;

const catalogue = loadCatalogue();
const tokenId = "usdc-base";
const shopAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
const createdAt = new Date("2026-11-21T10:00:00.000Z");
const paidAt = new Date("2026-11-21T10:04:31.000Z");
const sentAt = new Date("2026-11-21T10:04:32.000Z");
const sampleSecret = `whsec_${"0123456789abcdef".repeat(4)}`;

const view: OwnedLinkView = {
  id: "plink_01kajv3k5xe8kr3ynwq2v5t0xa",
  userId: "user_01k9zc7v9pfsr8m4g3d0t6hq2b",
  mode: "live",
  status: "active",
  toAmount: "25",
  receivedAmount: "0",
  currentUsage: 0,
  maxUsage: null,
  description: "Order 1001",
  createdAt,
  expiresAt: new Date("2026-11-22T10:00:00.000Z"),
  deactivatedAt: null,
  walletId: "wallet_01k9zc8b2mf6ws1y7kqd4v3n5c",
  walletProvider: null,
  destinationAddress: shopAddress,
  tokenId,
  paymentReference: "00112233445566778899aabbccddeeff",
  lastTransactionId: null,
  owner: {
    id: "user_01k9zc7v9pfsr8m4g3d0t6hq2b",
    handle: "alice",
    username: "Alice's Shop",
    dateCreated: "2026-11-14T08:30:00.000Z",
    profileImage: null,
    bio: null,
    backgroundImage: null,
    backgroundColour: null,
    links: null,
    returnUrl: null,
    wallets: [{ id: "wallet_01k9zc8b2mf6ws1y7kqd4v3n5c", isDefault: true, isChainDefault: true }],
  },
};

const serialization = {
  checkoutUrl: baseUrl,
  getToken: (id: string) => {
    const token = catalogue.findToken(id);
    if (token === undefined) throw new Error(`the catalogue has no ${id}`);
    return { token, tokenData: serializeToken(token, baseUrl) };
  },
} as unknown as Parameters<typeof serializeListedLink>[0];

const completedView: OwnedLinkView = {
  ...view,
  status: "completed",
  receivedAmount: "25",
  currentUsage: 1,
  lastTransactionId: "tx_4dpjw4q3tve2ra5bbx0c7kq8yd",
};

const createOperationSamples = () => {
  const { create, list, retrieve } = operations;
  const { handle } = view.owner;
  const listed = serializeListedLink(serialization, view, { handle, now: createdAt });
  return {
    [create.operationId]: {
      path: create.path,
      body: {
        toAmount: "25",
        description: "Order 1001",
        expirationDate: "2026-11-22T10:00:00Z",
      },
      responses: {
        200: { id: listed.id, url: listed.url },
        ...createErrorSamples(create),
        422: toResponse(createValidationError("greater_than", "datetime_future")),
      },
    },
    [list.operationId]: {
      path: `${list.path}?status=active`,
      responses: {
        200: { data: [listed], limit: pageSize, offset: 0, nextOffset: null },
        ...createErrorSamples(list),
        422: toResponse(createValidationError("enum")),
      },
    },
    [retrieve.operationId]: {
      path: retrieve.path.replace(":id", view.id),
      responses: {
        200: serializeRetrievedLink(serialization, completedView, sentAt),
        ...createErrorSamples(retrieve),
      },
    },
    ...createTestModeSamples(handle),
  };
};

const createTestModeSamples = (handle: string) => {
  const { deactivate, expire, pay } = testModeOperations;
  const endedView = { ...view, status: "inactive", expiresAt: sentAt } as const;
  const endedLink = serializeListedLink(serialization, endedView, { handle, now: sentAt });
  const endSamples = [expire, deactivate].map((operation) => [
    operation.operationId,
    {
      path: operation.path.replace(":id", view.id),
      responses: { 200: endedLink, ...createErrorSamples(operation) },
    },
  ]);
  const { token } = serialization.getToken(tokenId);
  return {
    [pay.operationId]: {
      path: pay.path.replace(":id", view.id),
      body: { outcome: "succeeded" },
      responses: {
        200: {
          id: sampleTransaction.id,
          status: "settled",
          applied: true,
          reason: null,
          amount: view.toAmount,
          tokenAddress: token.address,
          chainId: token.chain.id,
          sourceTransaction: sampleTransaction.sourceTransaction,
          dateCreated: paidAt.toISOString(),
          paymentLinkId: view.id,
        },
        ...createErrorSamples(pay),
        422: toResponse(createValidationError("enum")),
      },
    },
    ...Object.fromEntries(endSamples),
  };
};

const toResponse = ({ entries }: { entries: readonly ApiErrorEntry[] }) => ({ errors: entries });

/** Returns the first error of each status of an operation. */
const createErrorSamples = (operation: Operation): Record<number, unknown> =>
  Object.fromEntries(
    listApiErrorCodes(operation)
      .toReversed()
      .map((code) => [getApiErrorStatus(code), toResponse(createApiError(code))]),
  );

const createWebhook = (type: WebhookType) => {
  const { shape } = webhookBodies[type].shape.data;
  const delivery = {
    id: `evt_01kajvbqxmf2vt8c0n6d5r7s4${webhookTypes.indexOf(type) + 1}`,
    eventType: type,
    occurredAt: paidAt,
    transaction: "transaction" in shape ? createTransaction(type) : null,
  };
  const { token } = serialization.getToken(tokenId);
  const body = serializeWebhookBody(
    delivery,
    {
      id: completedView.id,
      status: completedView.status,
      toAmount: new Decimal(completedView.toAmount),
      receivedAmount: new Decimal(completedView.receivedAmount),
      currentUsage: completedView.currentUsage,
      maxUsage: completedView.maxUsage,
      description: completedView.description,
      expirationDate: completedView.expiresAt,
      chainId: token.chain.id,
      tokenAddress: token.address,
    },
    sentAt,
  );
  const headers = createWebhookHeaders({
    prefix: "Service",
    secret: sampleSecret,
    eventId: delivery.id,
    body,
    now: sentAt,
  });
  return { headers, body };
};

/** Returns the payment of a webhook. An unapplied one is a second payment of the completed link. */
const createTransaction = (type: WebhookType): StoredTransaction =>
  type === "payment_link.transaction.unapplied"
    ? {
        ...sampleTransaction,
        id: "tx_7c9k2m4p6r8t0v1w3x5y7z9b1d",
        sourceTransaction: "0x9a1f2c7be04d35a8617e9b0c4d2f8a63e5b7190c2d4f6a8b0e1c3d5f7a9b2c4e",
        reason: "completed",
      }
    : sampleTransaction;

const sampleTransaction: WebhookTransaction = {
  id: completedView.lastTransactionId ?? "",
  status: "settled",
  amount: "25",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  chainId: "8453",
  sourceTransaction: "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
  dateCreated: "2026-11-21T10:03:58.000Z",
};
