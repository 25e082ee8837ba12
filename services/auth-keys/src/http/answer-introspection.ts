import type { Request, Response } from "express";
import * as z from "zod";
import { IntrospectionAnswer, IntrospectionQuestion, refuse } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { BadAnswer } from "@payment-links/identity";
import type { Deps } from "../deps.ts";

/**
 * POST /internal/introspect: another service asks who is behind a credential. 503 says that no
 * question can be answered, so services stop asking for a while. 500 says that this one cannot.
 */
export const answerIntrospection =
  ({ introspect, log }: Deps) =>
  async (req: Request, res: Response) => {
    const question = await readBody(req, IntrospectionQuestion);
    const answer = await introspect(question).catch((error: unknown) => {
      if (error instanceof BadAnswer) throw error;
      log.warn({ err: error }, "the database cannot tell who is calling");
      throw refuse("SERVICE_UNAVAILABLE");
    });
    answerJson(res, 200, z.encode(IntrospectionAnswer, answer));
  };
