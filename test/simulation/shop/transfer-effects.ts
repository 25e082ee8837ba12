import { keccak256Hex } from "@payment-links/chains";
import {
  type ChainLog,
  createProxyLog,
  createTransferLog,
} from "@payment-links/local-chains/evm/encode-logs";
import type { SolanaTransfer } from "../block.ts";
import type { ChainKind } from "../chain-kinds.ts";

/**
 * A transfer on a chain. `to` is in the family's format. `token` is the token's address on nodes.
 */
export type TransferDetails = { from: string; to: string; token: string; baseUnits: number };

/** The records of a transfer on its chain: logs, or transfers on Solana. */
export type TransferEffects = { logs: ChainLog[]; transfers: SolanaTransfer[] };

/**
 * Creates the effects of a transfer that does not name a link. On Solana, it can contain an
 * unrelated key.
 */
export const createTransferEffects = (
  { chainType, hasLogs, toNodeAddress }: ChainKind,
  { from, reference, to, token, baseUnits }: TransferDetails & { reference?: string | undefined },
): TransferEffects => ({
  logs: hasLogs ? [createTransferLog({ token, from, to: toNodeAddress(to), baseUnits })] : [],
  transfers: chainType === "SVM" ? [{ mint: token, to, baseUnits, reference }] : [],
});

/** Creates the effects of a proxy transfer that names a link. */
export const createPaymentEffects = (
  kind: ChainKind,
  payment: TransferDetails & { reference: string },
): TransferEffects => {
  const { logs, transfers } = createTransferEffects(kind, payment);
  if (!kind.hasLogs) return { logs: [], transfers };
  const proxyLog = createProxyLog({
    ...payment,
    proxy: kind.erc20Proxy,
    to: kind.toNodeAddress(payment.to),
    referenceHash: keccak256Hex(payment.reference),
  });
  return { logs: [...logs, proxyLog], transfers };
};
