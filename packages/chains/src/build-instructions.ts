import { buildBitcoinInstructions } from "./bitcoin/instructions.ts";
import type { ChainType } from "./chain-types.ts";
import { buildEvmInstructions } from "./evm/instructions.ts";
import type { Instructions } from "./instructions.ts";
import type { PaymentRequest } from "./payment-request.ts";
import { buildSolanaInstructions } from "./solana/instructions.ts";
import { buildTronInstructions } from "./tron/instructions.ts";

type BuildInstructions = (request: PaymentRequest) => Instructions | undefined;

const builders: Readonly<Record<ChainType, BuildInstructions>> = {
  EVM: buildEvmInstructions,
  SVM: buildSolanaInstructions,
  TVM: buildTronInstructions,
  BVM: buildBitcoinInstructions,
};

/**
 * Builds the instructions for a payment on a chain of this family. Returns undefined if the chain
 * has no fee proxy for the token, but needs one.
 */
export const buildInstructions = (
  chainType: ChainType,
  request: PaymentRequest,
): Instructions | undefined => builders[chainType](request);
