import type { Request, Response } from "express";
import { DepositsFilter, type Mode, formatAmount } from "@payment-links/contracts";
import { type ReadPart, createCsvFormatter, parseQuery, formatPart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import type { Deposit, DepositDecision } from "../domain/deposit.ts";
import { copySharedDeposits, listDepositsAfter } from "../store/deposits.ts";

/** GET /console/api/deposits.csv: exports the account's deposits, newest first (rule CALLER-27). */
export const exportDeposits =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { decision, mode = "live" } = parseQuery(req, DepositsFilter);
    const filter = { decision, mode, userId: account.id };
    await dependencies.exports.send(req, res, account.id, async (readPart) => {
      await readPart((db) => copySharedDeposits(db, account.id));
      const csvFormat = createCsvFormat(dependencies);
      const chunks = () => streamChunks({ filter, readPart, ...csvFormat });
      return { name: "deposits.csv", type: csvFormat.type, chunks };
    });
  };

const createCsvFormat = ({ catalogue }: Dependencies) =>
  createCsvFormatter<Deposit>({
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

type ExportSource = {
  filter: { decision: DepositDecision | undefined; mode: Mode; userId: string };
  readPart: ReadPart<Pool>;
  header: string;
  formatRow: (deposit: Deposit) => string;
};

/** A chunk of this size is formatted quickly enough not to delay other requests. */
const depositsPerChunk = 250;

async function* streamChunks({ header, formatRow, readPart, filter }: ExportSource) {
  yield header;
  // The loop terminates, because each part contains only deposits that are older than the previous
  // part.
  for (let last: Deposit | undefined; ;) {
    const page = { ...filter, last, limit: depositsPerChunk };
    const { rows, text } = await readPart(async (db) =>
      formatPart(await listDepositsAfter(db, page), formatRow),
    );
    if (rows.length === 0) return;
    yield text;
    last = rows.at(-1);
  }
}
