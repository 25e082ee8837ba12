import type { Address, Hex } from "viem";
import { type CatalogueToken, Decimal } from "@payment-links/contracts";
import { deriveDepositReference } from "../../reads/deposit-reference.ts";
import {
  type EventLog,
  type ProxyEvent,
  type TokenTransfer,
  decodeErc20ProxyEvent,
  decodeNativeProxyEvent,
  decodeTokenTransfer,
  decodePayer,
} from "./decode-event.ts";
import type { VerifiedTransfer } from "../../reads/chain-reader.ts";
import type { TransactionCall } from "./rpc-results.ts";
import { decodeSuffixedTransfer } from "./transfer-suffix.ts";

/**
 * The properties of a chain that determine whether a log is a payment. Addresses are in lowercase.
 */
export type PayableChain = {
  proxies: { erc20: string; ethereum: string | null };
  /** The chain's tokens in the catalogue by address, including look-alikes. */
  tokens: ReadonlyMap<string, CatalogueToken>;
  /** The chain's native coin, if links can request it. */
  nativeToken: CatalogueToken | undefined;
  /** Converts an EIP-55 address to the family's format. */
  formatAddress: (address: string) => string;
};

/** Returns whether an address, in the family's format, belongs to an owner. */
export type IsOwner = (address: string) => boolean;

/**
 * Returns the payments and deposits that a receipt proves.
 * - A token payment needs an event of the configured proxy for a catalogue token, and an earlier
 *   `Transfer` of that token to the same destination. The paid amount is the transfer's. Each
 *   transfer is used only once. The nearest transfer with the event's exact amount is used. If
 *   there is none, because some tokens take a fee, the nearest transfer is used.
 * - A native coin payment needs only the event, because the proxy itself transfers the coin.
 * - A transfer that no event uses is a payment if the transaction's calldata is this transfer with
 *   a reference. The token's log must name the transaction's sender as the payer.
 * - Any other transfer to an owner is a deposit, unless the owner sent it.
 *
 * Amounts of 0 are ignored.
 */
export const verifyReceipt = (
  receipt: PairedReceipt,
  chain: PayableChain,
  isOwner: IsOwner = () => false,
  sentCall?: SentCall,
): readonly VerifiedTransfer[] => {
  const unusedTransfers = [...receipt.unusedTransfers];
  const suffixPayments =
    sentCall === undefined ? [] : takeSuffixPayments(sentCall, unusedTransfers, chain);
  const counts = new Map<string, number>();
  const payments = [...receipt.events, ...suffixPayments].flatMap(
    ({ amount, destination, payer, referenceHash, token }): VerifiedTransfer[] =>
      amount === 0n
        ? []
        : [
            {
              referenceHash,
              ordinal: takeNextOrdinal(counts, referenceHash),
              tokenAddress: token.address,
              destinationAddress: chain.formatAddress(destination),
              amount: new Decimal(`${amount}e-${token.decimals}`),
              ...(payer === undefined ? {} : { payer: chain.formatAddress(payer) }),
            },
          ],
  );
  return [
    ...payments,
    ...unusedTransfers.flatMap((transfer) => toDeposits(transfer, { chain, isOwner, counts })),
  ];
};

/** A transaction's call and sender. The sender is in lowercase. */
type SentCall = TransactionCall & { from: string };

/**
 * The payments that a receipt's proxy events prove, and the transfers that none of these events
 * used.
 */
export type PairedReceipt = {
  events: readonly ProvenPayment[];
  unusedTransfers: readonly LoggedTransfer[];
};

/** Matches the proxy events of a receipt with their transfers. A failed receipt has neither. */
export const pairReceipt = (
  { isSuccessful, logs }: { isSuccessful: boolean; logs: readonly EventLog[] },
  chain: PayableChain,
): PairedReceipt => {
  if (!isSuccessful) return { events: [], unusedTransfers: [] };
  const unusedTransfers: LoggedTransfer[] = [];
  const events = logs.flatMap((log) => {
    const transfer = chain.tokens.has(log.address) ? decodeTokenTransfer(log) : undefined;
    if (transfer !== undefined) unusedTransfers.push({ ...transfer, log });
    return verifyProxyEvent(log, unusedTransfers, chain) ?? [];
  });
  return { events, unusedTransfers };
};

/**
 * Returns whether a transaction's calldata may identify a link. This is the case if the events
 * leave a transfer from the transaction's sender unused and its token takes a suffix.
 */
export const mayHaveSuffix = (
  { unusedTransfers }: PairedReceipt,
  sender: string,
  chain: PayableChain,
): boolean => unusedTransfers.some((transfer) => isSentBy(transfer, sender, chain));

const isSentBy = (
  { amount, destination, log, token }: LoggedTransfer,
  sender: string,
  { tokens }: PayableChain,
): boolean => {
  if (amount === 0n || tokens.get(token)?.takesSuffix === undefined) return false;
  const payer = decodePayer(log);
  return payer.toLowerCase() === sender && payer !== destination;
};

/**
 * Removes the transfer that the calldata assigns to a link from the unused transfers. There is at
 * most one.
 */
const takeSuffixPayments = (
  { from, ...call }: SentCall,
  unusedTransfers: LoggedTransfer[],
  chain: PayableChain,
): readonly ProvenPayment[] => {
  const suffixedTransfer = decodeSuffixedTransfer(call);
  const token = suffixedTransfer && chain.tokens.get(suffixedTransfer.token);
  if (suffixedTransfer === undefined || token === undefined) return [];
  const transfer = takeTransfer(
    unusedTransfers,
    suffixedTransfer.token,
    suffixedTransfer,
    (unusedTransfer) => isSentBy(unusedTransfer, from, chain),
  );
  return transfer === undefined ? [] : [{ ...suffixedTransfer, token, ...transfer }];
};

/** A proven payment, with the reference, the destination, and the received amount in base units. */
type ProvenPayment = {
  referenceHash: Hex;
  destination: Address;
  token: CatalogueToken;
  amount: bigint;
  /** The sender of the token's transfer. Undefined for a native coin, which has no such log. */
  payer?: Address;
};

/** A transfer, with its log, which contains the sender. */
type LoggedTransfer = TokenTransfer & { log: EventLog };

const toDeposits = (
  { amount, destination, log, token: address }: LoggedTransfer,
  {
    chain,
    isOwner,
    counts,
  }: { chain: PayableChain; isOwner: IsOwner; counts: Map<string, number> },
): VerifiedTransfer[] => {
  const token = chain.tokens.get(address);
  const destinationAddress = chain.formatAddress(destination);
  if (token === undefined || amount === 0n || !isOwner(destinationAddress)) return [];
  const payer = chain.formatAddress(decodePayer(log));
  if (payer === destinationAddress) return [];
  const target = { tokenAddress: token.address, destinationAddress };
  const referenceHash = deriveDepositReference(target);
  return [
    {
      referenceHash,
      ordinal: takeNextOrdinal(counts, referenceHash),
      ...target,
      amount: new Decimal(`${amount}e-${token.decimals}`),
      payer,
      isDeposit: true,
    },
  ];
};

/** Returns the number of earlier items with the same key. */
const takeNextOrdinal = (counts: Map<string, number>, key: string): number => {
  const count = counts.get(key) ?? 0;
  counts.set(key, count + 1);
  return count;
};

const verifyProxyEvent = (
  log: EventLog,
  unusedTransfers: LoggedTransfer[],
  { proxies, tokens, nativeToken }: PayableChain,
): ProvenPayment | undefined => {
  if (log.address === proxies.ethereum) {
    const event = decodeNativeProxyEvent(log);
    return event === undefined || nativeToken === undefined
      ? undefined
      : { ...event, token: nativeToken };
  }
  if (log.address !== proxies.erc20) return undefined;
  const event = decodeErc20ProxyEvent(log);
  const address = event?.token?.toLowerCase() ?? "";
  const token = tokens.get(address);
  if (event === undefined || token === undefined) return undefined;
  const transfer = takeTransfer(unusedTransfers, address, event);
  return transfer === undefined ? undefined : { ...event, token, ...transfer };
};

/** Removes the matching transfer from the unused transfers and returns its amount and sender. */
const takeTransfer = (
  unusedTransfers: LoggedTransfer[],
  token: string,
  { amount, destination }: Pick<ProxyEvent, "amount" | "destination">,
  isAllowed: (transfer: LoggedTransfer) => boolean = () => true,
): { amount: bigint; payer: Address } | undefined => {
  const isCandidate = (transfer: LoggedTransfer) =>
    transfer.token === token && transfer.destination === destination && isAllowed(transfer);
  const exactIndex = unusedTransfers.findLastIndex(
    (transfer) => isCandidate(transfer) && transfer.amount === amount,
  );
  const index = exactIndex === -1 ? unusedTransfers.findLastIndex(isCandidate) : exactIndex;
  const [takenTransfer] = index === -1 ? [] : unusedTransfers.splice(index, 1);
  return takenTransfer && { amount: takenTransfer.amount, payer: decodePayer(takenTransfer.log) };
};
