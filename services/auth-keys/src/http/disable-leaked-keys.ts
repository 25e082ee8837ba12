import type { Request, Response } from "express";
import * as z from "zod";
import {
  hashSecret,
  createValidationError,
  isApiKey,
  createApiError,
} from "@payment-links/contracts";
import { sendJson, readBodyBytes } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { isSignedByScanner } from "../domain/leaked-keys.ts";
import { lockApiKeyByHash, updateApiKeyActive } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";
import { scannerActor } from "./actors.ts";

const findingsMax = 1_000;
const locationCharsMax = 2_048;

/** The findings of a scanner, in the format of GitHub's secret scanning. */
const Findings = z
  .array(
    z.object({
      token: z.string(),
      type: z.string(),
      url: z.string().nullish(),
      source: z.string().nullish(),
    }),
  )
  .max(findingsMax);
type Finding = z.output<typeof Findings>[number];

/**
 * POST /internal/leaked-keys: deactivates keys that a secret scanner found in public. The audit log
 * shows each owner where the key was found. The response lists which of the reported keys were
 * ours.
 */
export const disableLeakedKeys =
  (dependencies: Dependencies) => async (req: Request, res: Response) => {
    const { leakedKeysPublicKeys: keys } = dependencies;
    if (keys.size === 0) throw createApiError("NOT_FOUND");
    const bytes = await readBodyBytes(req);
    const identifier = req.get("github-public-key-identifier") ?? "";
    const signature = req.get("github-public-key-signature") ?? "";
    if (!isSignedByScanner(keys, { bytes, identifier, signature }))
      throw createApiError("INVALID_SIGNATURE");
    const results = [];
    for (const finding of parseFindings(bytes)) {
      const label = (await disableLeakedKey(dependencies, req, finding))
        ? "true_positive"
        : "false_positive";
      const hash = hashSecret(finding.token).toString("base64");
      results.push({ token_hash: hash, token_type: finding.type, label });
    }
    sendJson(res, 200, results);
  };

const parseFindings = (bytes: Buffer): Finding[] => {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw createValidationError("json_invalid");
  }
  const findings = Findings.safeParse(value);
  if (!findings.success) throw createValidationError("list_type");
  return findings.data;
};

/** Deactivates a key if it is one of ours. Returns whether it is. */
const disableLeakedKey = async (
  dependencies: Dependencies,
  req: Request,
  finding: Finding,
): Promise<boolean> => {
  if (!isApiKey(finding.token)) return false;
  const hash = hashSecret(finding.token);
  const at = dependencies.clock.now();
  return transact(dependencies.pool, async (tx) => {
    const key = await lockApiKeyByHash(tx, hash);
    if (key === undefined) return false;
    const { id, accountId, isWorking } = key;
    if (!isWorking) return true;
    await updateApiKeyActive(tx, { id, isActive: false });
    await insertAudit(tx, {
      at,
      accountId,
      actor: scannerActor(req),
      action: "api_key.leaked",
      targetId: id,
      detail: {
        url: formatLocation(finding.url, finding),
        source: formatLocation(finding.source, finding),
      },
    });
    return true;
  });
};

/**
 * Returns where the key was found, in a form that is safe to store. Removes the key itself, which
 * must not be stored in the clear. Also removes NUL and replaces lone surrogates, which Postgres
 * cannot store. The truncation can split a surrogate pair.
 */
const formatLocation = (text: string | null | undefined, { token }: Finding): string | null =>
  text?.replaceAll("\0", "").replaceAll(token, "…").slice(0, locationCharsMax).toWellFormed() ??
  null;
