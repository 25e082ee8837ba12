import { LRUCache } from "lru-cache";
import type { AskSolana, CatalogueToken } from "@payment-links/contracts";

type Destination = { token: CatalogueToken; destinationAddress: string };

/** Returns whether nobody could spend what a destination receives (rule CHAIN-26). */
export type IsDestinationLost = (destination: Destination) => Promise<boolean>;

type Clock = {
  now(): Date;
  elapsedMs(): number;
  until(instant: Date, signal: AbortSignal): Promise<void>;
};

type Options = {
  askSolana: AskSolana;
  clock: Clock;
  /** Called when no node answers. */
  onUnknown: (error: unknown, chainId: string) => void;
};

/** An address can become a token account, so each answer counts only for a while. */
const answerMs = 60_000;
const retryMs = 10_000;
/** Payers do not wait for a node that hangs. */
const waitMs = 1_500;
const destinationsMax = 10_000;

/**
 * Creates the check of destinations on Solana, which remembers the answers. While no node answers, the last
 * answer counts; a destination that was never checked is not lost, as its wallet was checked when it was added.
 */
export const createDestinationChecks = ({
  askSolana,
  clock,
  onUnknown,
}: Options): IsDestinationLost => {
  const answers = new LRUCache<string, { isLost: boolean; askAgainAt: number }>({
    max: destinationsMax,
  });
  const running = new Map<string, Promise<boolean>>();
  const remember = (key: string, isLost: boolean, forMs: number): boolean => {
    answers.set(key, { isLost, askAgainAt: clock.elapsedMs() + forMs });
    return isLost;
  };
  const rememberLast = (key: string): boolean =>
    remember(key, answers.get(key)?.isLost ?? false, retryMs);
  const ask = async (key: string, { token, destinationAddress: owner }: Destination) => {
    const { chainId, address: tokenAddress } = token;
    try {
      const facts = await askSolana({ chainId, tokenAddress, payer: owner, owner });
      return remember(key, facts?.isTokenProgramAccount === true, answerMs);
    } catch (error) {
      onUnknown(error, chainId);
      return rememberLast(key);
    } finally {
      running.delete(key);
    }
  };
  return async (destination) => {
    const { token, destinationAddress } = destination;
    if (token.chain.chainType !== "SVM" || token.isNative) return false;
    const key = `${token.chainId} ${destinationAddress}`;
    const answer = answers.get(key);
    if (answer !== undefined && clock.elapsedMs() < answer.askAgainAt) return answer.isLost;
    const asked = running.get(key) ?? ask(key, destination);
    running.set(key, asked);
    const ended = new AbortController();
    const deadline = new Date(clock.now().getTime() + waitMs);
    const isOver = clock.until(deadline, ended.signal).then(() => "over" as const);
    const first = await Promise.race([asked, isOver]);
    ended.abort();
    return first === "over" ? rememberLast(key) : first;
  };
};
