import type { Hex } from "viem";
import { freshBlocksMaxDefault } from "../../reads/chain-reader.ts";
import { chunk } from "../../rpc/chunk.ts";

/**
 * The number of owners per request. For each request, the node searches the blocks once. Therefore
 * a request lists as many owners as hosts accept in a request body. geth accepts 1,000 values per
 * topic, so that is the limit for a provider that has rejected a longer list.
 */
export const payeesPerRequest = { initial: 10_000, afterRejection: 1_000 };

/**
 * The estimated size in JSON bytes of a request, of an owner in it, and of a log in its response.
 */
const byteEstimates = { request: 500, payee: 69, log: 700 };

/**
 * A request for token transfers to these owners. If `to` is undefined, it requests transfers to any
 * address.
 */
export type DepositLogRequest = { to: readonly Hex[] | undefined };

/**
 * Plans the requests for token transfers to owners. They either list the owners in batches or
 * request all transfers, whichever transfers fewer bytes.
 */
export const planDepositLogs = ({
  blockCount,
  payees,
  payeesMax,
  transfersPerBlock,
}: {
  blockCount: number;
  payees: readonly Hex[];
  /** The maximum number of owners per request. */
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

/**
 * Returns how many new blocks to read per step. The more owners the requests list, the more blocks
 * they cover.
 */
export const planFreshBlocks = (payeeCount: number): number =>
  freshBlocksMaxDefault +
  Math.min(extraFreshBlocksMax, Math.floor(payeeCount / payeesPerExtraBlock));
