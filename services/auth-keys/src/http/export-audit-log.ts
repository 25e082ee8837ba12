import type { Request, Response } from "express";
import {
  type AuditEntry,
  AuditExportQuery,
  auditExportMax,
  refuse,
} from "@payment-links/contracts";
import { answerFile, csvForm, readQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { showAuditRecord } from "../domain/audit.ts";
import { type WantedAudit, countAudit, readAuditBatch } from "../store/audit-log.ts";

const csv = csvForm<AuditEntry>({
  id: ({ id }) => id,
  dateCreated: ({ dateCreated }) => dateCreated,
  action: ({ action }) => action,
  actorKind: ({ actor }) => actor.kind,
  actorId: ({ actor }) => actor.id,
  method: ({ method }) => method,
  targetId: ({ targetId }) => targetId,
  address: ({ address }) => address,
  userAgent: ({ userAgent }) => userAgent,
  detail: ({ detail }) => JSON.stringify(detail),
});

const jsonl = {
  type: "application/jsonl; charset=utf-8",
  header: "",
  lineOf: (entry: AuditEntry): string => `${JSON.stringify(entry)}\n`,
};

/**
 * GET /console/api/audit-log/export: what was done to the person's own account, newest first, as a
 * file. It is read and sent in batches: a slow reader holds one of them, and no connection to the
 * database.
 */
export const exportAuditLog =
  ({ pool }: Deps) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { format = "csv", ...filter } = readQuery(req, AuditExportQuery);
    const wanted = { accountId: caller.account.id, filter };
    const count = await countAudit(pool, wanted, auditExportMax + 1);
    // Cut off in silence, it would look whole.
    if (count > auditExportMax) throw refuse("AUDIT_LOG_TOO_LONG");
    const form = format === "csv" ? csv : jsonl;
    const chunks = () => chunksOf(pool, wanted, form);
    await answerFile(req, res, { name: `audit-log.${format}`, type: form.type, chunks });
  };

type Form = Pick<typeof csv, "header" | "lineOf">;

async function* chunksOf(pool: Deps["pool"], wanted: WantedAudit, { header, lineOf }: Form) {
  if (header !== "") yield header;
  // The loop ends, as each batch holds only entries before the last one.
  for (let beforeSeq: string | undefined; ;) {
    const batch = await readAuditBatch(pool, { ...wanted, beforeSeq });
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch.map((record) => lineOf(showAuditRecord(record))).join("");
    beforeSeq = last.seq;
  }
}
