import type { Request, Response } from "express";
import {
  body,
  integer,
  createValidationError,
  createApiError,
  required,
} from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { countRescans, insertRescan } from "../store/rescans.ts";
import { listWatchers } from "../store/watchers.ts";
import { chainIdField } from "./chain-id-field.ts";

const pendingRescansMax = 100;
const blockNumber = integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

const RescanRequest = body({
  chainId: chainIdField,
  fromBlock: required(blockNumber),
  toBlock: required(blockNumber),
});

/**
 * POST /internal/settlement/rescan: makes the chain's leader read a range of blocks again and
 * record missed payments. 202 once the request is stored. Rescans run one after another, cover
 * final blocks only, and survive a restart. 404 if the chain is not configured, 422 if the range is
 * invalid or not scanned yet.
 */
export const rescanChain =
  ({ chains, clock, log, pool }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { chainId, fromBlock, toBlock } = await readJsonBody(req, RescanRequest);
    if (!chains.ids.includes(chainId)) throw createApiError("NOT_FOUND");
    const watcher = (await listWatchers(pool)).find((row) => row.chainId === chainId);
    if (fromBlock > toBlock || toBlock > (watcher?.scannedTo ?? -1)) {
      throw createValidationError("less_than_equal");
    }
    if ((await countRescans(pool, chainId)) >= pendingRescansMax) throw createApiError("429");
    await insertRescan(pool, { chainId, fromBlock, toBlock, requestedAt: clock.now() });
    log.info({ chain: chainId, from: fromBlock, to: toBlock }, "rescan requested");
    sendJson(res, 202, { chainId, fromBlock, toBlock });
  };
