import type { Request, Response } from "express";
import { createApiError } from "@payment-links/contracts";
import { parsePathParameter, setScriptedDocumentHeaders } from "@payment-links/http";
import { sendCompressedFile } from "./compressed-file.ts";
import type { DocsFiles } from "./docs-files.ts";

/** GET /docs and GET /docs/:page: returns a page of the docs. */
export const getDocsPage =
  (getDocsFiles: () => DocsFiles) =>
  (req: Request, res: Response): void => {
    const name = "page" in req.params ? parsePathParameter(req, "page") : "index";
    const page = getDocsFiles().findPage(name);
    if (page === undefined) throw createApiError("NOT_FOUND");
    setScriptedDocumentHeaders(res);
    sendCompressedFile(req, res, page);
  };
