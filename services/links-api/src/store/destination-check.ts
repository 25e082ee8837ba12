import { LRUCache } from "lru-cache";
import { getFamily } from "@payment-links/chains";
import type { FetchSolanaAccountState, CatalogueToken } from "@payment-links/contracts";

type Destination = { token: CatalogueToken; destinationAddress: string };

/** Returns whether money sent to a destination could never be spent (rule CHAIN-26). */
export type IsDestinationUnspendable = (destination: Destination) => Promise<boolean>;

type Clock = {
  now(): Date;
  elapsedMs(): number;
  sleepUntil(instant: Date, signal: AbortSignal): Promise<void>;
};

type Options = {
  fetchSolanaAccountState: FetchSolanaAccountState;
  clock: Clock;
  /** Is called when no node responds. */
  onUnknown: (error: unknown, chainId: string) => void;
};

/** Each result expires, because an address can become a token account. */
const resultTtlMs = 60_000;
const retryMs = 10_000;
/** The maximum time that a payer waits for a node. */
const requestTimeoutMs = 1_500;
const destinationsMax = 10_000;

/**
 * Creates the function that checks Solana destinations and caches the results. If no node responds,
 * it uses the last result. If there is no result, it treats the destination as spendable, because
 * the wallet was checked when it was added.
 */
export const createDestinationCheck = ({
  fetchSolanaAccountState,
  clock,
  onUnknown,
}: Options): IsDestinationUnspendable => {
  const cachedResults = new LRUCache<string, { isUnspendable: boolean; expiresAtMs: number }>({
    max: destinationsMax,
  });
  const pendingRequests = new Map<string, Promise<boolean>>();
  const cacheResult = (key: string, isUnspendable: boolean, ttlMs: number): boolean => {
    cachedResults.set(key, { isUnspendable, expiresAtMs: clock.elapsedMs() + ttlMs });
    return isUnspendable;
  };
  const extendLastResult = (key: string): boolean =>
    cacheResult(key, cachedResults.get(key)?.isUnspendable ?? false, retryMs);
  const checkDestination = async (
    key: string,
    { token, destinationAddress: owner }: Destination,
  ) => {
    const { chainId, address: tokenAddress } = token;
    try {
      const accountState = await fetchSolanaAccountState({
        chainId,
        tokenAddress,
        payer: owner,
        owner,
      });
      return cacheResult(key, accountState?.isTokenProgramAccount === true, resultTtlMs);
    } catch (error) {
      onUnknown(error, chainId);
      return extendLastResult(key);
    } finally {
      pendingRequests.delete(key);
    }
  };
  return async (destination) => {
    const { token, destinationAddress } = destination;
    if (token.isNative || !getFamily(token.chain.chainType).hasTokenPrograms) return false;
    const key = `${token.chainId} ${destinationAddress}`;
    const cachedResult = cachedResults.get(key);
    if (cachedResult !== undefined && clock.elapsedMs() < cachedResult.expiresAtMs)
      return cachedResult.isUnspendable;
    const request = pendingRequests.get(key) ?? checkDestination(key, destination);
    pendingRequests.set(key, request);
    const timeoutController = new AbortController();
    const deadline = new Date(clock.now().getTime() + requestTimeoutMs);
    const timeout = clock
      .sleepUntil(deadline, timeoutController.signal)
      .then(() => "over" as const);
    const winner = await Promise.race([request, timeout]);
    timeoutController.abort();
    return winner === "over" ? extendLastResult(key) : winner;
  };
};
