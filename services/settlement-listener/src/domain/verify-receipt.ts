import { type CatalogueToken, Decimal } from "@payment-links/contracts";
import {
  type EventLog,
  type ProxyEvent,
  type TokenTransfer,
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

/** A payment as a receipt proves it: addresses in EIP-55 form, the amount in the token's unit. */
type VerifiedTransfer = {
  referenceHash: string;
  /**
   * Its number among the payments of its reference in the receipt, 0 for the first. The place of a
   * log changes where a contract emits more or fewer logs when the transaction is mined again.
   */
  ordinal: number;
  tokenAddress: string;
  destinationAddress: string;
  amount: Decimal;
};

/**
 * The payments that a receipt proves. A proxy's event only points: it counts where it comes from
 * the configured proxy, names a token of the catalogue, and the token's own `Transfer` to the same
 * destination stands before it in the receipt. The amount is that transfer's, each used once: the
 * nearest one of the very amount that the event names, else (a token that takes a fee) the nearest.
 * Of a native coin the event itself is the proof, as the proxy makes the call. 0 is no payment.
 */
export const verifyReceipt = (
  receipt: { isSuccessful: boolean; logs: readonly EventLog[] },
  chain: PayableChain,
): readonly VerifiedTransfer[] => {
  if (!receipt.isSuccessful) return [];
  const unused: TokenTransfer[] = [];
  const counts = new Map<string, number>();
  return receipt.logs.flatMap((log) => {
    const transfer = chain.tokens.has(log.address) ? decodeTokenTransfer(log) : undefined;
    if (transfer !== undefined) unused.push(transfer);
    const verified = verifyLog(log, unused, chain);
    if (verified === undefined || verified.amount === 0n) return [];
    const { event, token, amount } = verified;
    const { referenceHash } = event;
    const ordinal = counts.get(referenceHash) ?? 0;
    counts.set(referenceHash, ordinal + 1);
    return {
      referenceHash,
      ordinal,
      tokenAddress: token.address,
      destinationAddress: event.destination,
      amount: new Decimal(`${amount}e-${token.decimals}`),
    };
  });
};

const verifyLog = (
  log: EventLog,
  unused: TokenTransfer[],
  { proxies, tokens, nativeToken }: PayableChain,
): { event: ProxyEvent; token: CatalogueToken; amount: bigint } | undefined => {
  if (log.address === proxies.ethereum) {
    const event = decodeNativeProxyEvent(log);
    return event === undefined || nativeToken === undefined
      ? undefined
      : { event, token: nativeToken, amount: event.amount };
  }
  if (log.address !== proxies.erc20) return undefined;
  const event = decodeErc20ProxyEvent(log);
  const address = event?.token?.toLowerCase() ?? "";
  const token = tokens.get(address);
  if (event === undefined || token === undefined) return undefined;
  const amount = takeTransfer(unused, address, event);
  return amount === undefined ? undefined : { event, token, amount };
};

/** Takes the transfer that an event points to out of those that stand before it. */
const takeTransfer = (
  unused: TokenTransfer[],
  token: string,
  { amount, destination }: ProxyEvent,
): bigint | undefined => {
  const isCandidate = (transfer: TokenTransfer) =>
    transfer.token === token && transfer.destination === destination;
  const exact = unused.findLastIndex((one) => isCandidate(one) && one.amount === amount);
  const index = exact === -1 ? unused.findLastIndex(isCandidate) : exact;
  return index === -1 ? undefined : unused.splice(index, 1)[0]?.amount;
};
