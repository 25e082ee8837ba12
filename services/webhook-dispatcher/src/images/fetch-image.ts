import { Client, type Dispatcher, buildConnector } from "undici";
import { type ImageType, sniffImageType } from "../domain/image-type.ts";
import { limitResponseBytes } from "../guard/limit-response-bytes.ts";
import { createGuardedConnector } from "../guard/guarded-connector.ts";
import type { HostOverrides } from "../guard/host-overrides.ts";
import { BlockedAddressError } from "../guard/resolve-public.ts";
import type { Resolve } from "../guard/resolver.ts";
import { type UrlRules, getHostname, parseWebhookUrl } from "../guard/webhook-url.ts";
import { ImageError } from "./image-error.ts";

/** A fetched image, with the type detected from its bytes. */
export type OwnerImage = { type: ImageType; bytes: Buffer };

/**
 * Fetches an image once, until the signal aborts. Throws an `ImageError` or an error of the
 * request.
 */
export type FetchImage = (url: string, signal: AbortSignal) => Promise<OwnerImage>;

type FetchOptions = {
  rules: UrlRules;
  resolve: Resolve;
  overrides: HostOverrides;
  /** An additional certificate authority for overridden https origins. */
  overrideCa?: string;
};

/** The maximum size of an image that is returned. */
const imageBytesMax = 1024 * 1024;
/**
 * The byte limit for a whole HTTP response. It is higher than the image limit, to leave room for
 * headers, chunked encoding, and data that is buffered before an image is rejected as too large.
 */
const responseBytesMax = imageBytesMax + 256 * 1024;

const redirectsMax = 3;
const connectTimeoutMs = 3_000;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const headers = {
  "user-agent": "PaymentLinks-Images/1.0",
  accept: "image/avif,image/webp,image/png,image/jpeg,image/gif",
  // Compressed responses are rejected, because decoding one could make it much larger.
  "accept-encoding": "identity",
};

/**
 * Creates the function that fetches owners' images. Applies the rules for webhook URLs (rules
 * HOOK-2 and HOOK-3) to the URL and to each redirect. Does not send any data about the visitor.
 * Does not reuse connections, so that each response comes from an address that was just checked.
 */
export const createImageFetcher = (options: FetchOptions): FetchImage => {
  const createClient = createClientFactory(options);
  return async (imageUrl, signal) => {
    let url = validateImageUrl(imageUrl, options.rules);
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      const fetched = await requestImage(createClient(url), url, signal);
      if (!(fetched instanceof URL)) return fetched;
      url = validateImageUrl(fetched.href, options.rules);
    }
    throw new ImageError("redirects");
  };
};

const createClientFactory = ({ overrides, overrideCa, resolve }: FetchOptions) => {
  const guardedConnector = createGuardedConnector(resolve, { connectTimeoutMs });
  const caOptions = overrideCa === undefined ? {} : { ca: overrideCa };
  const overrideConnector = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    ...caOptions,
  });
  // The caller's signal is the only deadline.
  const clientOptions = { pipelining: 0, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  return (url: URL): Client => {
    const overrideUrl = overrides.get(getHostname(url));
    const connect = limitResponseBytes(
      overrideUrl === undefined ? guardedConnector : overrideConnector,
      responseBytesMax,
    );
    return new Client(overrideUrl?.origin ?? url.origin, { ...clientOptions, connect });
  };
};

/** Drops the fragment, which is never sent, before validation. */
const validateImageUrl = (urlText: string, rules: UrlRules): URL => {
  const url = parseWebhookUrl(urlText.replace(/#.*$/s, ""), rules);
  if (typeof url === "string") throw new BlockedAddressError();
  return url;
};

/** Requests one host. Returns the image, or the URL it redirects to. */
const requestImage = async (
  client: Client,
  url: URL,
  signal: AbortSignal,
): Promise<OwnerImage | URL> => {
  const destroyClient = (reason: Error | null) => void client.destroy(reason).catch(() => {});
  const abort = () => destroyClient(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    const path = `${url.pathname}${url.search}`;
    const host = url.host;
    const response = await client.request({ path, method: "GET", headers: { ...headers, host } });
    // An unread body is discarded when its connection closes, so its error does not matter.
    response.body.on("error", () => {});
    return getRedirectUrl(response, url) ?? (await readImage(response));
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", abort);
    destroyClient(null);
  }
};

const getRedirectUrl = (
  { statusCode, headers: { location } }: Dispatcher.ResponseData,
  url: URL,
): URL | undefined => {
  if (!redirectStatuses.has(statusCode)) return undefined;
  if (typeof location !== "string" || !URL.canParse(location, url.href)) {
    throw new ImageError("status");
  }
  return new URL(location, url);
};

const readImage = async (response: Dispatcher.ResponseData): Promise<OwnerImage> => {
  const { "content-encoding": encoding = "identity", "content-length": length } = response.headers;
  if (response.statusCode !== 200) throw new ImageError("status");
  if (encoding !== "identity") throw new ImageError("encoded");
  if (Number(length ?? 0) > imageBytesMax) throw new ImageError("too_large");
  const bytes = await readBytes(response.body);
  const type = sniffImageType(bytes);
  if (type === undefined) throw new ImageError("wrong_type");
  return { type, bytes };
};

const readBytes = async (body: Dispatcher.ResponseData["body"]): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > imageBytesMax) throw new ImageError("too_large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
