import { buildBitcoinRefund } from "./bitcoin/refund.ts";
import type { ChainType } from "./chain-types.ts";
import { buildEvmRefund } from "./evm/refund.ts";
import type { RefundRequest, RefundTransfer } from "./refund-transfer.ts";
import { buildSolanaRefund } from "./solana/refund.ts";
import { buildTronRefund } from "./tron/refund.ts";

export type { RefundTransfer };

const builders: Readonly<Record<ChainType, (request: RefundRequest) => RefundTransfer>> = {
  EVM: buildEvmRefund,
  TVM: buildTronRefund,
  SVM: buildSolanaRefund,
  BVM: buildBitcoinRefund,
};

/** Builds what a wallet needs to send a refund on a chain of this family. */
export const buildRefund = (chainType: ChainType, request: RefundRequest): RefundTransfer =>
  builders[chainType](request);
