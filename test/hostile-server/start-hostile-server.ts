import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { ApiError, createApiError } from "@payment-links/contracts";
import { type Fault, type FaultKind, type FaultMix, chooseFault } from "./faults.ts";
import {
  type CreateCall,
  type LedgerLink,
  type LinkLedger,
  createLinkLedger,
} from "./link-ledger.ts";

export type HostileServer = {
  url: string;
  /** Returns all links that were created. */
  listAll(): readonly LedgerLink[];
  /** Returns how many attempts had each fault. */
  faultCounts(): Readonly<Partial<Record<Fault["kind"], number>>>;
  close(): Promise<void>;
};

/** A request, and what the service would do with it. */
type Call = {
  req: IncomingMessage;
  body: Buffer;
  /** Identifies the call: its attempts have the same text. */
  id: string;
  create: CreateCall | undefined;
  handle: () => unknown;
};

type Reply = { status: number; text: string; headers?: Record<string, string> };

/**
 * Starts a server with the calls of `/v1/payment-link` that fails in every way in which a network,
 * a proxy and the service can fail. It creates at most one link per API key and idempotency key.
 * `GET /__ledger` never fails. It returns the links per idempotency key.
 */
export const startHostileServer = async ({
  seed,
  faults,
  port = 0,
}: {
  seed: number;
  faults: FaultMix;
  port?: number | undefined;
}): Promise<HostileServer> => {
  let url = "";
  const ledger = createLinkLedger(() => url);
  const attemptCounts = new Map<string, number>();
  const faultCounts: Partial<Record<Fault["kind"], number>> = {};

  const handleRequest = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await buffer(req);
    if (req.url === "/__ledger") {
      sendReply(res, toJsonReply(200, summarize(ledger.listAll(), faultCounts)));
      return;
    }
    const call = parseCall(ledger, req, body);
    const attemptNumber = (attemptCounts.get(call.id) ?? 0) + 1;
    attemptCounts.set(call.id, attemptNumber);
    const fault = chooseFault(faults, { seed, call: call.id, attemptNumber });
    faultCounts[fault.kind] = (faultCounts[fault.kind] ?? 0) + 1;
    respondWithFault(ledger, call, fault, res);
    // The attempt that stalled before this one is slow, but it succeeds.
    if (call.create !== undefined && fault.kind !== "stall") ledger.finishCreate(call.create);
  };

  const server = createServer((req, res) => {
    // A client that disconnects while it sends its request gets no response.
    handleRequest(req, res).catch(() => void res.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    listAll: () => ledger.listAll(),
    faultCounts: () => faultCounts,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};

const basePath = "/v1/payment-link";

const parseCall = (ledger: LinkLedger, req: IncomingMessage, body: Buffer): Call => {
  const { pathname, search, searchParams } = new URL(req.url ?? "", "http://127.0.0.1");
  const apiKey = getHeader(req, "x-api-key");
  const idempotencyKey = getHeader(req, "idempotency-key");
  const requireApiKey = (): string => {
    if (apiKey === undefined) throw createApiError("UNAUTHENTICATED");
    return apiKey;
  };
  if (pathname === basePath && req.method === "POST") {
    const create = { apiKey: apiKey ?? "", idempotencyKey, body };
    const handle = () => {
      requireApiKey();
      return ledger.createLink(parseIdempotencyKey(create));
    };
    return { req, body, id: `create ${apiKey} ${idempotencyKey}`, create, handle };
  }
  const handle = () => {
    if (req.method !== "GET") throw createApiError("METHOD_NOT_ALLOWED");
    if (pathname === basePath)
      return ledger.listLinks(requireApiKey(), Number(searchParams.get("offset") ?? 0));
    if (pathname.startsWith(`${basePath}/`))
      return ledger.findLink(decodeURIComponent(pathname.slice(basePath.length + 1)));
    throw createApiError("NOT_FOUND");
  };
  return {
    req,
    body,
    id: `${req.method} ${apiKey} ${pathname}${search}`,
    create: undefined,
    handle,
  };
};

const getHeader = (req: IncomingMessage, name: string): string | undefined => {
  const value = req.headers[name];
  return typeof value === "string" ? value : undefined;
};

const parseIdempotencyKey = (create: CreateCall): CreateCall => {
  const { idempotencyKey } = create;
  if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey))
    throw createApiError("IDEMPOTENCY_KEY_INVALID");
  return create;
};

/** Lets the service handle the call, and returns its correct response. */
const handleCall = (call: Call): Reply => {
  try {
    return toJsonReply(200, call.handle());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return toJsonReply(error.status, { errors: error.entries });
  }
};

const respondWithFault = (
  ledger: LinkLedger,
  call: Call,
  { isHandled, kind, variant }: Fault,
  res: ServerResponse,
): void => {
  if (kind === "stall") {
    if (call.create !== undefined) ledger.startCreate(call.create);
    return;
  }
  if (kind === "none" || kind === "halfBody") {
    const reply = handleCall(call);
    if (kind === "none") sendReply(res, reply);
    else sendHalf(res, reply, variant % 2 === 0);
    return;
  }
  if (kind === "repeat") {
    handleCall(call);
    sendReply(res, handleCall(call));
    return;
  }
  // A rate limit rejects a request before the service handles it.
  if (isHandled && kind !== "rateLimit") handleCall(call);
  if (kind === "drop") res.destroy();
  else sendReply(res, createFaultReply(call, kind, variant));
};

const createFaultReply = (
  call: Call,
  kind: Exclude<FaultKind, "drop" | "halfBody" | "repeat" | "stall">,
  variant: number,
): Reply => {
  if (kind === "html") {
    const status = [200, 502, 503, 504][variant % 4] ?? 502;
    const headers = { "Content-Type": "text/html" };
    return { status, text: "<!doctype html><title>Bad gateway</title>", headers };
  }
  if (kind === "error") {
    const { entries, status } = createApiError(findInternalErrorCode(call));
    return toJsonReply(status, { errors: entries });
  }
  const { entries, status } = createApiError("429");
  const inTwoSeconds = new Date(Date.now() + 2_000).toUTCString();
  // 3,600 s is rare, because it ends the call.
  const retryAfter = variant < 8 ? "3600" : ["", "1", "7", inTwoSeconds][variant % 4];
  const reply = toJsonReply(status, { errors: entries });
  return retryAfter
    ? { ...reply, headers: { ...reply.headers, "Retry-After": retryAfter } }
    : reply;
};

/** Returns the code of an internal error of the call (rule ERROR-3). */
const findInternalErrorCode = ({ create, req }: Call) => {
  if (create !== undefined) return "CANNOT_CREATE_PAYMENT_LINK";
  const isList = req.url === basePath || req.url?.startsWith(`${basePath}?`) === true;
  return isList ? "CANNOT_FIND_PAYMENT_LINK" : "INTERNAL_ERROR";
};

const toJsonReply = (status: number, body: unknown): Reply => ({
  status,
  text: JSON.stringify(body),
  headers: { "Content-Type": "application/json" },
});

const sendReply = (res: ServerResponse, { headers, status, text }: Reply): void =>
  void res.writeHead(status, headers).end(text);

/** Sends half of the body. If it is announced as complete, the client sees half a JSON text. */
const sendHalf = (res: ServerResponse, { headers, status, text }: Reply, isAnnounced: boolean) => {
  const bytes = Buffer.from(text);
  const half = bytes.subarray(0, Math.floor(bytes.length / 2));
  const length = isAnnounced ? half.length : bytes.length;
  res.writeHead(status, { ...headers, "Content-Length": length });
  if (isAnnounced) res.end(half);
  else res.write(half, () => res.destroy());
};

/** Builds the response of `/__ledger`. Links that were created without a key are under "". */
const summarize = (
  entries: readonly LedgerLink[],
  faultCounts: Readonly<Partial<Record<Fault["kind"], number>>>,
) => {
  const linksByKey: Record<string, { id: string; toAmount: string }[]> = {};
  for (const { idempotencyKey, link } of entries)
    (linksByKey[idempotencyKey ?? ""] ??= []).push({ id: link.id, toAmount: link.toAmount });
  return { linksByKey, faultCounts };
};
