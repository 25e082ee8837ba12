import type { Hex } from "viem";
import { freshBlocksMaxDefault } from "../../../domain/plan-scan.ts";
import { chunk } from "../../../rpc/chunk.ts";

/**
 * Each question has the node look through the blocks once, so as many owners as a host's bound on a
 * request bears; geth takes a thousand values for one topic, which is what is asked for from then on
 * where a provider has refused more.
 */
export const payeesPerRequest = { initial: 10_000, afterRejection: 1_000 };

/** Some bytes of a question, an owner in it, and a log in its answer, as JSON. */
const byteEstimates = { request: 500, payee: 69, log: 700 };

/** A question for tokens' transfers: to these owners, or to anybody. */
export type DepositLogRequest = { to: readonly Hex[] | undefined };

/**
 * Decides how tokens' transfers to owners are asked for, by what it costs on the wire: the transfers to
 * owners by name, so many at a time, or all there are.
 */
export const planDepositLogs = ({
  blockCount,
  payees,
  payeesMax,
  transfersPerBlock,
}: {
  blockCount: number;
  payees: readonly Hex[];
  /** How many of them one question names at most. */
  payeesMax: number;
  transfersPerBlock: number;
}): readonly DepositLogRequest[] => {
  if (payees.length === 0) return [];
  const batches = chunk(payees, payeesMax);
  const bytesByName = batches.length * byteEstimates.request + payees.length * byteEstimates.payee;
  const bytesForAll = byteEstimates.request + blockCount * transfersPerBlock * byteEstimates.log;
  if (bytesForAll < bytesByName) return [{ to: undefined }];
  return batches.map((to) => ({ to }));
};

const extraFreshBlocksMax = 200;
const payeesPerExtraBlock = 50;

/** How many new blocks a step reads: a question that names many owners is put for more of them. */
export const planFreshBlocks = (payeeCount: number): number =>
  freshBlocksMaxDefault +
  Math.min(extraFreshBlocksMax, Math.floor(payeeCount / payeesPerExtraBlock));
