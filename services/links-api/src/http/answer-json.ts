import type { Response } from "express";

/**
 * Answers 200 with JSON, in one write. It replaces `res.json` on the busy paths, because `res.json`
 * parses the content type that it has just set. Every answer tells how things are now.
 */
export const answerJson = (res: Response, body: unknown): void => {
  res.setHeader("Content-Type", "application/json; charset=utf-8");
  res.setHeader("Cache-Control", "no-store");
  res.end(JSON.stringify(body));
};
