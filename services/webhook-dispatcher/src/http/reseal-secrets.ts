import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import { openSecret, sealSecret } from "../domain/secret-keys.ts";
import { type StoredSecret, listSecretsNotUnder, replaceSecrets } from "../store/endpoints.ts";

type ResealDeps = Pick<Deps, "pool" | "log" | "secretKeys">;

const batchMax = 200;

/**
 * POST /internal/webhook-secrets/reseal: seals every secret in use under the first key, in bounded
 * batches, while everything else goes on. Running it again, or twice at once, does no harm. Once it
 * answers that no secret was left unopened, the other keys may be removed.
 */
export const resealSecrets =
  (deps: ResealDeps) =>
  async (_req: Request, res: Response): Promise<void> => {
    const { pool, secretKeys } = deps;
    let resealedCount = 0;
    let unopenedCount = 0;
    // The loop ends, as each batch holds only ids beyond the one before.
    for (let afterId = ""; ;) {
      const page = { afterId, limit: batchMax };
      const batch = await listSecretsNotUnder(pool, secretKeys.sealing, page);
      const opened = batch.flatMap((read) => reseal(deps, read));
      unopenedCount += batch.length - opened.length;
      if (opened.length > 0) resealedCount += await replaceSecrets(pool, opened);
      const last = batch.at(-1);
      if (last === undefined || batch.length < batchMax) break;
      afterId = last.id;
    }
    answerJson(res, 200, { keyName: secretKeys.sealing, resealedCount, unopenedCount });
  };

const reseal = ({ secretKeys, log }: ResealDeps, read: StoredSecret) => {
  try {
    const secret = openSecret(secretKeys, read, read.id);
    return [{ read, fresh: sealSecret(secretKeys, secret, read.id) }];
  } catch (error) {
    log.error({ err: error, endpoint_id: read.id }, "an endpoint's secret cannot be opened");
    return [];
  }
};
