import type { Request, Response } from "express";
import { StartCommandSignInBody, hashSecret, requireModeAvailable } from "@payment-links/contracts";
import { getRequestOrigin, readJsonBody, sendJson } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import {
  commandSignInMs,
  generateUserCode,
  pollIntervalSeconds,
} from "../domain/command-sign-in.ts";
import { generateHashedToken } from "../domain/token.ts";
import { insertCommandSignIn } from "../store/command-sign-ins.ts";

/**
 * POST /command/sign-ins: starts to sign in a command line. The user enters the user code in the
 * console, while the command line polls with the device code (rule CALLER-47).
 */
export const startCommandSignIn =
  ({ catalogue, pool, clock, baseUrl }: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { deviceName, mode: requestedMode } = await readJsonBody(req, StartCommandSignInBody);
    const mode = requestedMode ?? "live";
    requireModeAvailable(catalogue, mode);
    const { token: deviceCode, hash: deviceHash } = generateHashedToken();
    const userCode = generateUserCode();
    const dateCreated = clock.now();
    await insertCommandSignIn(pool, {
      deviceHash,
      userHash: hashSecret(userCode),
      deviceName,
      mode,
      address: getRequestOrigin(req).address,
      dateCreated,
      expiresAt: new Date(dateCreated.getTime() + commandSignInMs),
    });
    sendJson(res, 201, {
      deviceCode,
      userCode,
      verificationUrl: `${baseUrl}/console${mode === "test" ? "/test" : ""}/command`,
      intervalSeconds: pollIntervalSeconds,
      expiresInSeconds: commandSignInMs / 1_000,
    });
  };
