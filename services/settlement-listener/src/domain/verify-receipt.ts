import { type CatalogueToken, Decimal } from "@payment-links/contracts";
import {
  type ProxyEvent,
  type EventLog,
  decodeErc20ProxyEvent,
  decodeNativeProxyEvent,
  decodeTokenTransfer,
} from "./decode-event.ts";

/** What of a chain decides whether a log is a payment; addresses are lowercase. */
export type PayableChain = {
  proxies: { erc20: string; ethereum: string | null };
  /** The catalogue's tokens of the chain, by their address. */
  tokens: ReadonlyMap<string, CatalogueToken>;
  /** The chain's own coin, where links can ask for it. */
  nativeToken: CatalogueToken | undefined;
};

/** A payment as a receipt proves it: the token in EIP-55 form, the amount in its unit. */
type VerifiedTransfer = {
  /** The place of the proxy's log within the receipt, which a reorg does not change. */
  ordinal: number;
  referenceHash: string;
  tokenAddress: string;
  /** Lowercase. */
  destination: string;
  amount: Decimal;
};

type Receipt = { isSuccessful: boolean; logs: readonly EventLog[] };

/**
 * The payments that a receipt proves. A proxy's event only points: it counts where it comes from the
 * configured proxy, names a token of the catalogue, and the token's own `Transfer` to the same
 * destination stands before it in the receipt. The amount is that transfer's, each used once: the
 * nearest one of the very amount that the event names, else (a token that takes a fee) the nearest.
 * Of a native coin the event itself is the proof, as the proxy makes the call. 0 is no payment.
 */
export const verifyReceipt = (
  receipt: Receipt,
  chain: PayableChain,
): readonly VerifiedTransfer[] => {
  if (!receipt.isSuccessful) return [];
  const used = new Set<number>();
  return receipt.logs.flatMap((log, ordinal) => {
    const verified = verifyLog(receipt.logs, ordinal, used, chain);
    if (verified === undefined || verified.amount === 0n) return [];
    const { event, token, amount } = verified;
    return {
      ordinal,
      referenceHash: event.referenceHash,
      tokenAddress: token.address,
      destination: event.destination,
      amount: new Decimal(`${amount}e-${token.decimals}`),
    };
  });
};

const verifyLog = (
  logs: readonly EventLog[],
  ordinal: number,
  used: Set<number>,
  { proxies, tokens, nativeToken }: PayableChain,
): { event: ProxyEvent; token: CatalogueToken; amount: bigint } | undefined => {
  const log = logs[ordinal];
  if (log === undefined) return undefined;
  if (log.address === proxies.ethereum) {
    const event = decodeNativeProxyEvent(log);
    return event === undefined || nativeToken === undefined
      ? undefined
      : { event, token: nativeToken, amount: event.amount };
  }
  if (log.address !== proxies.erc20) return undefined;
  const event = decodeErc20ProxyEvent(log);
  const token = typeof event?.token === "string" ? tokens.get(event.token) : undefined;
  if (event === undefined || token === undefined) return undefined;
  const amount = takeTransfer(logs.slice(0, ordinal), event, used);
  return amount === undefined ? undefined : { event, token, amount };
};

const takeTransfer = (
  before: readonly EventLog[],
  event: ProxyEvent,
  used: Set<number>,
): bigint | undefined => {
  const candidates = before.flatMap((log, index) => {
    if (log.address !== event.token || used.has(index)) return [];
    const transfer = decodeTokenTransfer(log);
    return transfer?.destination === event.destination ? [{ index, ...transfer }] : [];
  });
  const exact = candidates.findLast(({ amount }) => amount === event.amount);
  const taken = exact ?? candidates.at(-1);
  if (taken !== undefined) used.add(taken.index);
  return taken?.amount;
};
