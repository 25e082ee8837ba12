import type { Request, Response } from "express";
import * as z from "zod";
import { IntrospectionAnswer, IntrospectionQuestion } from "@payment-links/contracts";
import { readBody } from "@payment-links/http";
import type { Deps } from "../deps.ts";

/** POST /internal/introspect: another service asks who is behind a credential. */
export const answerIntrospection =
  ({ introspect }: Deps) =>
  async (req: Request, res: Response) => {
    const question = await readBody(req, IntrospectionQuestion);
    res.json(z.encode(IntrospectionAnswer, await introspect(question)));
  };
