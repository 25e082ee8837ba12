import type { Address, Hex } from "viem";
import { type CatalogueToken, Decimal } from "@payment-links/contracts";
import { deriveDepositReference } from "../../domain/deposit.ts";
import {
  type EventLog,
  type ProxyEvent,
  type TokenTransfer,
  decodeErc20ProxyEvent,
  decodeNativeProxyEvent,
  decodeTokenTransfer,
  decodePayer,
} from "./decode-event.ts";
import type { VerifiedTransfer } from "../../watch/chain-reader.ts";
import type { TransactionCall } from "./evm-reads.ts";
import { decodeSuffixedTransfer } from "./transfer-suffix.ts";

/** What of a chain decides whether a log is a payment; addresses are lowercase. */
export type PayableChain = {
  proxies: { erc20: string; ethereum: string | null };
  /** The catalogue's tokens of the chain, look-alikes included, by their address. */
  tokens: ReadonlyMap<string, CatalogueToken>;
  /** The chain's own coin, where links can ask for it. */
  nativeToken: CatalogueToken | undefined;
  /** An address in EIP-55 form as the family writes it. */
  formatAddress: (address: string) => string;
};

/** Whether an owner is paid at an address, in the form of the family. */
export type IsOwner = (address: string) => boolean;

/**
 * The payments that a receipt proves. A proxy's event only points: it counts where it comes from
 * the configured proxy, names a token of the catalogue, and the token's own `Transfer` to the same
 * destination stands before it in the receipt. The amount is that transfer's, each used once: the
 * nearest one of the very amount that the event names, else (a token that takes a fee) the nearest.
 * Of a native coin the event itself is the proof, as the proxy makes the call. 0 is no payment.
 * A transfer that no event has used is a payment where the transaction's calldata is that of the transfer
 * and names a link, and its sender is whom the token names. What is left then, and went to an owner, is
 * a deposit, unless the owner sent it.
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
    ({ amount, destination, referenceHash, token }): VerifiedTransfer[] =>
      amount === 0n
        ? []
        : [
            {
              referenceHash,
              ordinal: takeNextOrdinal(counts, referenceHash),
              tokenAddress: token.address,
              destinationAddress: chain.formatAddress(destination),
              amount: new Decimal(`${amount}e-${token.decimals}`),
            },
          ],
  );
  return [
    ...payments,
    ...unusedTransfers.flatMap((transfer) => toDeposits(transfer, { chain, isOwner, counts })),
  ];
};

/** What a transaction called, and who sent it, in lowercase. */
type SentCall = TransactionCall & { from: string };

/** What the proxies' events of a receipt prove, and the transfers that none of them has used. */
export type PairedReceipt = {
  events: readonly ProvenPayment[];
  unusedTransfers: readonly LoggedTransfer[];
};

/** Gives the proxies' events of a receipt their transfers; one that failed has neither. */
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
 * Whether a transaction's calldata decides what its receipt proves: it may name a link where a transfer of
 * its sender's, of a token that takes a suffix, is left by the events.
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

/** The transfer that calldata names a link for: at most one, taken out of those that no event has used. */
const takeSuffixPayments = (
  { from, ...call }: SentCall,
  unusedTransfers: LoggedTransfer[],
  chain: PayableChain,
): readonly ProvenPayment[] => {
  const suffixedTransfer = decodeSuffixedTransfer(call);
  const token = suffixedTransfer && chain.tokens.get(suffixedTransfer.token);
  if (suffixedTransfer === undefined || token === undefined) return [];
  const amount = takeTransfer(
    unusedTransfers,
    suffixedTransfer.token,
    suffixedTransfer,
    (transfer) => isSentBy(transfer, from, chain),
  );
  return amount === undefined ? [] : [{ ...suffixedTransfer, token, amount }];
};

/** What proves a payment: the link that is named, and how many base units arrived where. */
type ProvenPayment = {
  referenceHash: Hex;
  destination: Address;
  token: CatalogueToken;
  amount: bigint;
};

/** A transfer, and the log that tells who sent it. */
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
    },
  ];
};

/** How many had a name before this one. */
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
  const amount = takeTransfer(unusedTransfers, address, event);
  return amount === undefined ? undefined : { ...event, token, amount };
};

/** Takes the transfer that is pointed to out of those that are left. */
const takeTransfer = (
  unusedTransfers: LoggedTransfer[],
  token: string,
  { amount, destination }: Pick<ProxyEvent, "amount" | "destination">,
  isAllowed: (transfer: LoggedTransfer) => boolean = () => true,
): bigint | undefined => {
  const isCandidate = (transfer: LoggedTransfer) =>
    transfer.token === token && transfer.destination === destination && isAllowed(transfer);
  const exactIndex = unusedTransfers.findLastIndex(
    (transfer) => isCandidate(transfer) && transfer.amount === amount,
  );
  const index = exactIndex === -1 ? unusedTransfers.findLastIndex(isCandidate) : exactIndex;
  return index === -1 ? undefined : unusedTransfers.splice(index, 1)[0]?.amount;
};
