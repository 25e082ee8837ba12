import type { ChainLog, SolanaTransfer } from "../block.ts";
import { proxyLog, transferLog } from "../chain.ts";
import type { ChainKind } from "../chain-kinds.ts";

/** What moves on a chain; `to` as an address is written, `token` as nodes name it. */
export type Moved = { from: string; to: string; token: string; units: number };

/** What a chain holds of it: logs, or on Solana transfers. */
export type Shown = { logs: ChainLog[]; transfers: SolanaTransfer[] };

/** A transfer that names nothing; on Solana perhaps a key that is no link's. */
export const showTransfer = (
  { chainType, hasLogs, hexOf }: ChainKind,
  { from, reference, to, token, units }: Moved & { reference?: string | undefined },
): Shown => ({
  logs: hasLogs ? [transferLog({ token, from, to: hexOf(to), units })] : [],
  transfers: chainType === "SVM" ? [{ mint: token, to, units, reference }] : [],
});

/** A transfer by the proxy, which names a link. */
export const showPayment = (kind: ChainKind, paid: Moved & { reference: string }): Shown => {
  const { logs, transfers } = showTransfer(kind, paid);
  const said = { ...paid, proxy: kind.erc20Proxy, to: kind.hexOf(paid.to) };
  return { logs: kind.hasLogs ? [...logs, proxyLog(said)] : [], transfers };
};
