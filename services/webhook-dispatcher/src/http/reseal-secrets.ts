import type { Request, Response } from "express";
import { sendJson } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import { openSecret, sealSecret } from "../domain/secret-keys.ts";
import { type StoredSecret, listSecretsNotUnder, replaceSecrets } from "../store/endpoints.ts";

type ResealDependencies = Pick<Dependencies, "pool" | "log" | "secretKeys">;

const batchMax = 200;

/**
 * POST /internal/webhook-secrets/reseal: encrypts every secret in use with the first key, in
 * limited batches, during normal operation. Repeated and concurrent runs are safe. When the
 * response reports no secrets that could not be decrypted, the other keys can be removed.
 */
export const resealSecrets =
  (dependencies: ResealDependencies) =>
  async (_req: Request, res: Response): Promise<void> => {
    const { pool, secretKeys } = dependencies;
    let resealedCount = 0;
    let unopenedCount = 0;
    // The loop terminates because each batch contains only ids after the previous batch.
    for (let afterId = ""; ;) {
      const page = { afterId, limit: batchMax };
      const batch = await listSecretsNotUnder(pool, secretKeys.sealingKeyName, page);
      const resealedSecrets = batch.flatMap((storedSecret) => reseal(dependencies, storedSecret));
      unopenedCount += batch.length - resealedSecrets.length;
      if (resealedSecrets.length > 0) resealedCount += await replaceSecrets(pool, resealedSecrets);
      const lastSecret = batch.at(-1);
      if (lastSecret === undefined || batch.length < batchMax) break;
      afterId = lastSecret.id;
    }
    sendJson(res, 200, { keyName: secretKeys.sealingKeyName, resealedCount, unopenedCount });
  };

const reseal = ({ secretKeys, log }: ResealDependencies, storedSecret: StoredSecret) => {
  try {
    const secret = openSecret(secretKeys, storedSecret, storedSecret.id);
    return [{ read: storedSecret, fresh: sealSecret(secretKeys, secret, storedSecret.id) }];
  } catch (error) {
    log.error({ err: error, endpoint_id: storedSecret.id }, "could not decrypt endpoint secret");
    return [];
  }
};
