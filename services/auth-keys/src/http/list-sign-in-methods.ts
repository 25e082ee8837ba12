import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { sendJson } from "@payment-links/http";
import type { Dependencies } from "../dependencies.ts";
import type { SignInMethod } from "../domain/session.ts";

/** GET /console/api/session/methods: lists the enabled sign-in methods. */
export const listSignInMethods =
  ({ signInMethods: methods }: Dependencies) =>
  (_req: Request, res: Response): void => {
    sendJson(res, 200, { methods });
  };

/** Throws SIGN_IN_METHOD_UNAVAILABLE unless the sign-in method is enabled. */
export const requireEnabledMethod = (
  { signInMethods }: Pick<Dependencies, "signInMethods">,
  method: SignInMethod,
): void => {
  if (!signInMethods.includes(method)) throw createApiError("SIGN_IN_METHOD_UNAVAILABLE");
};
