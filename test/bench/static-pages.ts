import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

/**
 * The headers that affect how a browser treats a page. For example, a page with an opener policy
 * gets its own process, which is slow to start.
 */
export const pageHeaders = [
  "content-type",
  "content-security-policy",
  "cross-origin-opener-policy",
  "referrer-policy",
  "x-content-type-options",
  "cache-control",
];

/**
 * Serves static pages in front of a handler. A page that was stored under `/static/` is served from
 * there with the same headers. This way, the same server serves a page and its baseline.
 */
export const withStaticPages = (handler: RequestListener): RequestListener => {
  const pages = new Map<string, Page>();
  return (req, res) => {
    const { method, url = "" } = req;
    if (!url.startsWith("/static/")) return handler(req, res);
    if (method === "PUT") return storePage(req, res, (page) => pages.set(url, page));
    const page = pages.get(url);
    for (const [name, value] of page?.headers ?? []) res.setHeader(name, value);
    res.end(page?.body);
  };
};

type Page = { headers: readonly (readonly [string, string])[]; body: Buffer };

const storePage = (
  req: IncomingMessage,
  res: ServerResponse,
  addPage: (page: Page) => void,
): void => {
  const headers = pageHeaders.map((name) => [name, String(req.headers[name])] as const);
  const chunks: Buffer[] = [];
  req.on("data", (chunk: Buffer) => chunks.push(chunk));
  req.on("end", () => {
    addPage({ headers, body: Buffer.concat(chunks) });
    res.writeHead(204).end();
  });
};
