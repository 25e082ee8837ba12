import type { Request, Response } from "express";
import type { Refusal } from "@payment-links/contracts";
import { answerRefusal } from "@payment-links/http";
import { answerPageRefusal } from "./answer-page.ts";

const apiPaths = /^\/(?:v1|console\/api)(?:\/|$)/;

/**
 * Answers an address where nothing is: a person's browser with a page, a program with the error
 * envelope, and below the APIs everybody with that (rule ERROR-5).
 */
export const answerUnknown = (refusal: Refusal, req: Request, res: Response): void => {
  const isPages = !apiPaths.test(req.path) && ["GET", "HEAD"].includes(req.method);
  if (isPages) res.vary("Accept");
  if (isPages && req.accepts(["json", "html"]) === "html") answerPageRefusal(refusal, req, res);
  else answerRefusal(refusal, res);
};
