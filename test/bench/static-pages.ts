import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/**
 * Puts static pages in front of a handler: what was put under `/static/` is answered from there. So a
 * page and the floor beside it come from the same server.
 */
export const withStaticPages = (handler: RequestListener): RequestListener => {
  const pages = new Map<string, Buffer>();
  return (req, res) => {
    const { method, url = "" } = req;
    if (!url.startsWith("/static/")) return handler(req, res);
    if (method === "PUT") return keep(req, res, (page) => pages.set(url, page));
    res.setHeader("Content-Type", "text/html; charset=utf-8");
    res.end(pages.get(url));
  };
};

const keep = (req: IncomingMessage, res: ServerResponse, put: (page: Buffer) => void): void => {
  const chunks: Buffer[] = [];
  req.on("data", (chunk: Buffer) => chunks.push(chunk));
  req.on("end", () => {
    put(Buffer.concat(chunks));
    res.writeHead(204).end();
  });
};
