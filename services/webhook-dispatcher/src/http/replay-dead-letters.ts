import type { Request, Response } from "express";
import type { Deps } from "../deps.ts";

/** POST /internal/dead-letters/webhook-dispatcher/replay: runs them again, in order per link. */
export const replayDeadLetters =
  (deps: Deps) =>
  async (_req: Request, res: Response): Promise<void> => {
    res.json(await deps.replayDeadLetters());
  };
