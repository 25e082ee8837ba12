import type { Request, Response } from "express";
import * as z from "zod";
import { listDeadLetters } from "@payment-links/bus";
import { readQuery } from "@payment-links/http";
import type { Deps } from "../deps.ts";

// An operator's word: what is no sequence number lists from the start.
const Query = z.object({
  afterSeq: z
    .string()
    .regex(/^\d{1,18}$/)
    .optional()
    .catch(undefined),
});

/** GET /internal/dead-letters/links-api: what was set aside, the oldest first. */
export const showDeadLetters =
  ({ pool }: Deps) =>
  async (req: Request, res: Response): Promise<void> => {
    const { afterSeq } = readQuery(req, Query);
    const data = await listDeadLetters({ pool, ...(afterSeq === undefined ? {} : { afterSeq }) });
    res.json({ data });
  };
