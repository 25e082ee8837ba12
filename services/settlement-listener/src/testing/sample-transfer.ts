import { randomBytes } from "node:crypto";
import { Decimal } from "@payment-links/contracts";
import type { Transfer } from "../domain/transfer.ts";
import { owner, usdc } from "./samples.ts";

/** Creates a transfer of USDC on Base with a unique transaction and reference. */
export const sampleTransfer = (overrides: Partial<Transfer> = {}): Transfer => ({
  chainId: usdc.chainId,
  transactionHash: `0x${randomBytes(32).toString("hex")}`,
  ordinal: 0,
  blockNumber: 10,
  blockHash: `0x${"0a".repeat(32)}`,
  occurredAt: new Date("2026-11-21T09:59:00.000Z"),
  referenceHash: `0x${randomBytes(32).toString("hex")}`,
  tokenAddress: usdc.address,
  destinationAddress: owner,
  amount: new Decimal("1.5"),
  sender: `0x${"6".repeat(40)}`,
  nonce: 7,
  status: "seen",
  ...overrides,
});
