import type { Request, Response } from "express";
import { DepositsQuery, pageSize } from "@payment-links/contracts";
import { sendJson, parseQuery, serializePage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { copySharedDeposits, listDeposits } from "../store/deposits.ts";
import { createDepositSerializer } from "./serialize-deposit.ts";

/**
 * GET /console/api/deposits: lists received money that does not identify a link (rule CALLER-29).
 */
export const listOwnDeposits =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { decision = "unmatched", mode = "live", offset = 0 } = parseQuery(req, DepositsQuery);
    const page = { userId: account.id, mode, decision, offset, limit: pageSize + 1 };
    await copySharedDeposits(dependencies.pool, account.id);
    const deposits = await dependencies.deepPages.read(res, { accountId: account.id, offset }, () =>
      listDeposits(dependencies.pool, page),
    );
    const serializeDeposit = await createDepositSerializer(
      dependencies,
      deposits.slice(0, pageSize),
      { userId: account.id, mode },
    );
    sendJson(res, 200, serializePage(deposits, offset, serializeDeposit));
  };
