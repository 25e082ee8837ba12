import * as z from "zod";
import { isId } from "../ids.ts";
import { body, formattedText, nullable, positiveDecimal, required, text } from "../validation.ts";
import { type Operation, wireAmount, wireCount, wireInstant } from "./operation.ts";

/**
 * A refund that the link's owner has recorded. The owner sends it with a wallet. This service does
 * not verify that the transaction exists or pays this amount (rule CALLER-43).
 */
export const RefundData = z
  .object({
    id: z.string(),
    paymentId: z.string().meta({ description: "The payment that was refunded." }),
    amount: wireAmount,
    tokenAddress: z.string(),
    chainId: z.string(),
    destinationAddress: z.string(),
    transactionId: z.string().meta({
      description: "As the owner recorded it. It is not verified.",
    }),
    transactionUrl: z.string().nullable().meta({
      description: "The transaction in its chain's block explorer, or null if the chain has none.",
    }),
    dateCreated: wireInstant.meta({ description: "When the refund was recorded." }),
  })
  .meta({ id: "RefundData" });
export type RefundData = z.output<typeof RefundData>;

/** Parses the id of a payment. */
export const paymentIdParser = formattedText(
  { pattern: "^tx_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
  (input) => isId("tx", input),
);

const refundFields = {
  paymentId: required(paymentIdParser),
  amount: required(positiveDecimal).describe("In the token of the payment."),
  destinationAddress: required(text({ lengthMin: 1, lengthMax: 200 })),
};

/** The body that requests what a wallet needs to send a refund. */
export const RefundInstructionsBody = body({
  ...refundFields,
  account: nullable(text({ lengthMin: 1, lengthMax: 200 })).describe(
    "The account that sends the refund. A transaction for the Wallet Standard names it.",
  ),
}).meta({ id: "RefundQuestion" });

/** The interface of the wallets in a browser that can send a refund on a chain. */
const refundWallets = ["EIP-1193", "TronWeb", "wallet-standard", "none"] as const;

/** What a wallet needs to send a refund. */
const RefundInstructions = z
  .object({
    destinationAddress: z.string().meta({ description: "In its canonical form." }),
    amount: wireAmount,
    wallet: z.enum(refundWallets).meta({
      description: "The interface of the wallets in a browser. `none` for a chain without one.",
    }),
    chain: z.string().nullable().meta({
      description: "The chain as the wallet's interface names it: a number, or `solana:mainnet`.",
    }),
    call: z
      .object({
        to: z.string(),
        value: z.string().meta({ description: "In base units of the coin." }),
        data: z.string(),
        rpcUrl: z.string().nullable().meta({
          description: "A public node, for a wallet that does not know the network yet.",
        }),
        tron: z
          .object({
            functionSelector: z.string(),
            parameter: z.string(),
            energyMax: wireCount,
            feeLimit: z.string(),
          })
          .optional()
          .meta({ description: "The arguments of `triggerSmartContract`, only for TronWeb." }),
      })
      .nullable()
      .meta({ description: "The contract call, for EIP-1193 and TronWeb." }),
    transaction: z
      .string()
      .nullable()
      .meta({
        description:
          "The unsigned transaction of `account` in base64, for the Wallet Standard. It can be sent for about 1 " +
          "minute. Null without `account`.",
      }),
    uri: z
      .string()
      .nullable()
      .meta({ description: "A payment URI, for a chain without wallets in a browser." }),
  })
  .meta({ id: "RefundInstructions" });
export type RefundInstructions = z.output<typeof RefundInstructions>;

/** The body that records a refund. */
export const RecordRefundBody = body({
  ...refundFields,
  transactionId: required(text({ lengthMin: 1, lengthMax: 200 })),
}).meta({ id: "RefundRecord" });

const baseOperation = {
  caller: "session",
  tag: "Payment links",
  path: "/console/api/payment-links/:id",
  method: "post",
} as const;

const refundErrors = [
  "INVALID_WALLET_ADDRESS",
  "PRIVATE_KEY_REFUSED",
  "PAYMENT_SIMULATED",
] as const;

/** The operations on the refunds of the signed-in user's payment links. */
export const refundOperations = {
  record: {
    ...baseOperation,
    path: `${baseOperation.path}/refunds`,
    operationId: "recordRefund",
    summary: "Record a refund that you have sent with your wallet",
    description:
      "The transaction is not verified. A repeat with the same payment and transaction returns the stored refund.",
    body: RecordRefundBody,
    responses: { 200: RefundData },
    errors: [...refundErrors, "INVALID_TRANSACTION_ID"],
  },
  prepare: {
    ...baseOperation,
    path: `${baseOperation.path}/refund-instructions`,
    operationId: "prepareRefund",
    summary: "Get what your wallet needs to send a refund",
    description: "Nothing is stored or sent.",
    body: RefundInstructionsBody,
    responses: { 200: RefundInstructions },
    errors: [...refundErrors, "BALANCE_TOO_LOW", "SOLANA_WALLET_REQUIRED"],
  },
} as const satisfies Record<string, Operation>;
