import type { Request, Response } from "express";
import type { Dependencies } from "../dependencies.ts";
import { requireUnsubscribeToken } from "./require-unsubscribe-token.ts";
import { sendUnsubscribeQuestion } from "./send-unsubscribe-page.ts";

/**
 * GET /console/api/unsubscribe/:token: shows the page with the button that unsubscribes. It does not
 * change anything, because mail scanners open links.
 */
export const getUnsubscribePage =
  ({ clock, pool }: Pick<Dependencies, "clock" | "pool">) =>
  async (req: Request, res: Response): Promise<void> => {
    const { kinds } = await requireUnsubscribeToken(pool, { req, now: clock.now() });
    sendUnsubscribeQuestion({ req, res }, kinds);
  };
