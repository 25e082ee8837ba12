import type { Request, Response } from "express";
import { refuse } from "@payment-links/contracts";
import { answerJson } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import type { SignInMethod } from "../domain/session.ts";

/** GET /console/api/session/methods: the ways into a session that exist here. */
export const listSignInMethods =
  ({ signInMethods: methods }: Deps) =>
  (_req: Request, res: Response): void => {
    answerJson(res, 200, { methods });
  };

/** Throws SIGN_IN_METHOD_UNAVAILABLE if there is no such way into a session here. */
export const requireMethod = (
  { signInMethods }: Pick<Deps, "signInMethods">,
  method: SignInMethod,
): void => {
  if (!signInMethods.includes(method)) throw refuse("SIGN_IN_METHOD_UNAVAILABLE");
};
