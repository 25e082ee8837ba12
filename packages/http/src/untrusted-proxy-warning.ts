import type { RequestHandler } from "express";
import type { Log } from "@payment-links/runtime";

/** The headers in which proxies report the client's address. */
const forwardingHeaders = ["x-forwarded-for", "forwarded", "x-real-ip"] as const;

/**
 * Logs one warning about a forwarding header from a peer that is not a trusted proxy. Behind an
 * untrusted proxy, all callers share the rate limit of the proxy's address (rule OPS-9).
 * `isTrusted` is Express's own check.
 */
export const createUntrustedProxyWarning = (
  log: Pick<Log, "warn">,
  isTrusted: (address: string) => boolean,
): RequestHandler => {
  let hasWarned = false;
  return (req, _res, next) => {
    if (!hasWarned) {
      const header = forwardingHeaders.find((name) => req.headers[name] !== undefined);
      const peer = req.socket.remoteAddress;
      if (header !== undefined && peer !== undefined && !isTrusted(peer)) {
        hasWarned = true;
        log.warn(
          { peer, header },
          "forwarding header from an address that is not in TRUSTED_PROXIES; if this is your proxy, add " +
            "it, because until then all its clients share one rate limit",
        );
      }
    }
    next();
  };
};
