import type { Request, Response } from "express";
import { DepositsQuery, pageSize } from "@payment-links/contracts";
import { answerJson, readQuery, showPage } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { copySharedDeposits, listDeposits } from "../store/deposits.ts";
import { showDeposits } from "./show-deposit.ts";

/** GET /console/api/deposits: money that came without naming a link (rule CALLER-29). */
export const listOwnDeposits =
  (deps: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { decision = "unmatched", offset = 0 } = readQuery(req, DepositsQuery);
    const page = { userId: account.id, decision, offset, limit: pageSize + 1 };
    await copySharedDeposits(deps.pool, account.id);
    const deposits = await deps.deepPages.read(res, { accountId: account.id, offset }, () =>
      listDeposits(deps.pool, page),
    );
    const show = await showDeposits(deps, deposits.slice(0, pageSize), account.id);
    answerJson(res, 200, showPage(deposits, offset, show));
  };
