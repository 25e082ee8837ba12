import type { Request, Response } from "express";
import type { Deps } from "../deps.ts";

/** POST /internal/dead-letters/links-api/replay: runs them again, in order per link and account. */
export const replayDeadLetters =
  (deps: Deps) =>
  async (_req: Request, res: Response): Promise<void> => {
    res.json(await deps.replayDeadLetters());
  };
