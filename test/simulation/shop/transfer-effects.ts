import type { ChainLog, SolanaTransfer } from "../block.ts";
import { createProxyLog, createTransferLog } from "../chain.ts";
import type { ChainKind } from "../chain-kinds.ts";

/** What moves on a chain; `to` as an address is written, `token` as nodes name it. */
export type TransferDetails = { from: string; to: string; token: string; baseUnits: number };

/** What a chain holds of it: logs, or on Solana transfers. */
export type TransferEffects = { logs: ChainLog[]; transfers: SolanaTransfer[] };

/** A transfer that names nothing; on Solana perhaps a key that is no link's. */
export const createTransferEffects = (
  { chainType, hasLogs, toNodeAddress }: ChainKind,
  { from, reference, to, token, baseUnits }: TransferDetails & { reference?: string | undefined },
): TransferEffects => ({
  logs: hasLogs ? [createTransferLog({ token, from, to: toNodeAddress(to), baseUnits })] : [],
  transfers: chainType === "SVM" ? [{ mint: token, to, baseUnits, reference }] : [],
});

/** A transfer by the proxy, which names a link. */
export const createPaymentEffects = (
  kind: ChainKind,
  payment: TransferDetails & { reference: string },
): TransferEffects => {
  const { logs, transfers } = createTransferEffects(kind, payment);
  const proxyPayment = { ...payment, proxy: kind.erc20Proxy, to: kind.toNodeAddress(payment.to) };
  return { logs: kind.hasLogs ? [...logs, createProxyLog(proxyPayment)] : [], transfers };
};
