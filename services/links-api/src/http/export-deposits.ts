import type { Request, Response } from "express";
import { DepositsFilter, formatAmount } from "@payment-links/contracts";
import { type ReadPart, csvForm, readQuery, writePart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import type { Deposit, DepositDecision } from "../domain/deposit.ts";
import { copySharedDeposits, listDepositsBehind } from "../store/deposits.ts";

/** GET /console/api/deposits.csv: the account's deposits, newest first (rule CALLER-27). */
export const exportDeposits =
  (deps: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { decision } = readQuery(req, DepositsFilter);
    const wanted = { decision, userId: account.id };
    await deps.exports.send(req, res, account.id, async (readPart) => {
      await readPart((db) => copySharedDeposits(db, account.id));
      const form = formOf(deps);
      const chunks = () => chunksOf({ wanted, readPart, ...form });
      return { name: "deposits.csv", type: form.type, chunks };
    });
  };

const formOf = ({ catalogue }: Deps) =>
  csvForm<Deposit>({
    id: ({ id }) => id,
    dateCreated: ({ firstSeenAt }) => firstSeenAt.toISOString(),
    dateOnChain: ({ occurredAt }) => occurredAt.toISOString(),
    status: ({ status }) => status,
    decision: ({ decision }) => decision,
    dateDecided: ({ decidedAt }) => decidedAt?.toISOString() ?? null,
    amount: ({ amount }) => formatAmount(amount),
    token: ({ chainId, tokenAddress }) =>
      catalogue.findTokenByAddress(chainId, tokenAddress)?.symbol ?? null,
    chainId: ({ chainId }) => chainId,
    tokenAddress: ({ tokenAddress }) => tokenAddress,
    destinationAddress: ({ destinationAddress }) => destinationAddress,
    sender: ({ payer }) => payer,
    sourceTransaction: ({ sourceTransaction }) => sourceTransaction,
    paymentLinkId: ({ linkId }) => linkId,
    paymentId: ({ paymentId }) => paymentId,
  });

type Source = {
  wanted: { decision: DepositDecision | undefined; userId: string };
  readPart: ReadPart<Pool>;
  header: string;
  lineOf: (deposit: Deposit) => string;
};

/** Few enough that writing them keeps nobody else waiting. */
const depositsAtOnce = 250;

async function* chunksOf({ header, lineOf, readPart, wanted }: Source) {
  yield header;
  // The loop ends, as each part holds only deposits older than those before.
  for (let last: Deposit | undefined; ;) {
    const page = { ...wanted, last, limit: depositsAtOnce };
    const { rows, text } = await readPart(async (db) =>
      writePart(await listDepositsBehind(db, page), lineOf),
    );
    if (rows.length === 0) return;
    yield text;
    last = rows.at(-1);
  }
}
