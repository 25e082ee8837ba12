import { buffer } from "node:stream/consumers";
import type { RequestListener } from "node:http";

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
  const pages = new Map<string, { headers: Map<string, string>; body: Buffer }>();
  const handlePage: RequestListener = async (req, res) => {
    const { method, url = "" } = req;
    if (method === "PUT") {
      const headers = new Map(pageHeaders.map((name) => [name, String(req.headers[name])]));
      pages.set(url, { headers, body: await buffer(req) });
      return res.writeHead(204).end();
    }
    const page = pages.get(url);
    if (page !== undefined) res.setHeaders(page.headers);
    return res.end(page?.body);
  };
  return (req, res) =>
    req.url?.startsWith("/static/") === true ? handlePage(req, res) : handler(req, res);
};
