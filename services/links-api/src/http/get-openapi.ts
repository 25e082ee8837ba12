import type { Request, Response } from "express";

/**
 * GET /v1/openapi.json and GET /console/api/openapi.json: returns a document that was serialized at
 * startup.
 */
export const getOpenapi = (document: object) => {
  const text = JSON.stringify(document);
  return (_req: Request, res: Response): void => {
    res.type("json").send(text);
  };
};
