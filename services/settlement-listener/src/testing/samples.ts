import {
  Decimal,
  type PaymentLinkState,
  newId,
  loadCatalogue,
  pickLinkTexts,
} from "@payment-links/contracts";
import type { PaymentReport } from "../domain/payment.ts";

const findCatalogueToken = (id: string) => {
  const token = loadCatalogue().findToken(id);
  if (token === undefined) throw new Error(`the catalogue has no ${id}`);
  return token;
};

/** USDC on Base: 6 decimals. */
export const usdc = findCatalogueToken("usdc-base");

export const owner = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
export const payerTransaction = `0x${"ab".repeat(32)}`;

/** Creates the body of a notice about USDC on Base, with new ids. */
export const sampleNotice = (overrides: Record<string, unknown> = {}) => ({
  id: newId("evt"),
  paymentLinkId: newId("plink"),
  status: "settled",
  amount: "10.5",
  tokenAddress: usdc.address,
  chainId: usdc.chainId,
  destinationAddress: owner,
  sourceTransaction: payerTransaction as string | null,
  occurredAt: "2026-11-21T09:58:00Z",
  ...overrides,
});

/** Creates the payment in such a notice. */
export const samplePaymentReport = (overrides: Partial<PaymentReport> = {}): PaymentReport => ({
  source: "provider:acme",
  sourceId: newId("evt"),
  paymentLinkId: newId("plink"),
  status: "settled",
  amount: new Decimal("10.5"),
  tokenAddress: usdc.address,
  chainId: usdc.chainId,
  destinationAddress: owner,
  sourceTransaction: payerTransaction,
  occurredAt: new Date("2026-11-21T09:58:00.000Z"),
  blockNumber: null,
  ...overrides,
});

/** Creates the state of a link in the form that links-api publishes. */
export const sampleLink = (overrides: Partial<PaymentLinkState> = {}): PaymentLinkState => ({
  id: newId("plink"),
  version: 1,
  userId: newId("user"),
  status: "active",
  toAmount: new Decimal("25"),
  receivedAmount: new Decimal("0"),
  currentUsage: 0,
  maxUsage: null,
  ...pickLinkTexts({}),
  expirationDate: null,
  destinationAddress: owner,
  chainId: usdc.chainId,
  tokenAddress: usdc.address,
  paymentReference: "00112233445566778899aabbccddeeff",
  dateCreated: new Date("2026-11-21T09:00:00.000Z"),
  ...overrides,
});
