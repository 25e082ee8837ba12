import type { Request, Response } from "express";
import { answerJson } from "@payment-links/http";
import type { Deps } from "../deps.ts";
import type { SignInMethod } from "../domain/session.ts";
import { evmChainIds } from "./read-siwe.ts";

/** GET /console/api/session/methods: the ways into a session that exist here. */
export const listSignInMethods = ({ catalogue, oidc }: Deps) => {
  const methods: SignInMethod[] = ["link"];
  if (evmChainIds(catalogue).length > 0) methods.push("siwe");
  if (oidc !== undefined) methods.push("oidc");
  return (_req: Request, res: Response): void => {
    answerJson(res, 200, { methods });
  };
};
