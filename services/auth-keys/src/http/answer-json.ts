import type { Response } from "express";

/** Answers with one person's data, or a secret: no cache may keep it. */
export const answerJson = (res: Response, status: 200 | 201, body: object): void => {
  res.setHeader("Cache-Control", "no-store");
  res.status(status).json(body);
};
