import { type ApiRequest, sendRequest } from "./send-request.ts";
import type {
  NewPaymentLink,
  PaymentLinkCreationData,
  PaymentLinkData,
  PaymentLinkPage,
  PaymentLinksFilter,
  RetrievedPaymentLink,
} from "./shapes.ts";
import type { Runtime } from "./runtime.ts";

export type PaymentLinksOptions = {
  /** The service's origin, such as `https://pay.example.com`. */
  url: string | URL;
  /** An API key. Not required for retrieving a single link. */
  apiKey?: string | undefined;
  /** The timeout of one try: 1 to 600,000 ms, 10,000 ms by default. */
  timeoutMs?: number | undefined;
  /**
   * The maximum number of tries per call: 1 to 100, 5 by default. A call is retried when no
   * response arrives or when the response indicates a temporary error. The wait is 1, 2, 4, 8 s and
   * so on, plus jitter, at most a minute, and never shorter than `Retry-After`.
   */
  triesMax?: number | undefined;
  /** The function that sends requests. Defaults to the global `fetch`. */
  fetch?: typeof fetch | undefined;
};

export type CallOptions = {
  /**
   * Aborts the call with the signal's reason, also while it waits between tries. An aborted create
   * may still have succeeded: pass your own idempotency key to repeat it safely.
   */
  signal?: AbortSignal | null | undefined;
};

export type CreateOptions = CallOptions & {
  /**
   * 1 to 255 printable ASCII characters without leading or trailing spaces, unique for each link.
   * For 24 hours, a create with the same key returns the same link if it has the same fields,
   * values and field order. The default is random and covers only the tries of this call. Pass the
   * order number, and a crash between call and response does not create a second link either.
   */
  idempotencyKey?: string | undefined;
};

/** The input of a create. The amount is text because JavaScript numbers are floats. */
export type LinkToCreate = Omit<NewPaymentLink, "toAmount"> & { toAmount: string };

/**
 * A client of the public API. Its methods are the operations of `/v1/openapi.json`, with the same
 * names. They throw a `PaymentLinksError` for an error response and a `NoAnswerError` if no
 * response arrives.
 */
export type PaymentLinks = {
  /**
   * Creates a link. Needs the scope `payment_link:create`. Send the payer to the `url` of the
   * response.
   */
  createPaymentLink(link: LinkToCreate, options?: CreateOptions): Promise<PaymentLinkCreationData>;
  /** Returns one page of ten links, newest first. Needs the scope `payment_link:read`. */
  listPaymentLinks(filter?: PaymentLinksFilter, options?: CallOptions): Promise<PaymentLinkPage>;
  /** Returns one link with its owner's public profile. Needs no API key. */
  retrievePaymentLink(id: string, options?: CallOptions): Promise<RetrievedPaymentLink>;
  /**
   * Yields every link of the list, newest first, and requests pages as the loop needs them. Links
   * created during the loop may be missing; no link is yielded twice. If a link stops matching the
   * `status` filter during the loop, another link may be skipped: omit the status if you need every
   * link.
   */
  eachPaymentLink(
    filter?: Pick<PaymentLinksFilter, "status">,
    options?: CallOptions,
  ): AsyncGenerator<PaymentLinkData, void, undefined>;
};

const defaultTimeoutMs = 10_000;
const defaultTriesMax = 5;
/** More links than are created between two page requests. */
const seenIdsMax = 10_000;
const timeoutMsMax = 600_000;
const triesMaxLimit = 100;
const idempotencyKeyLengthMax = 255;
const basePath = "/v1/payment-link";

/** Creates a client on the given runtime. Throws a `TypeError` if an option is invalid. */
export const createClient = (options: PaymentLinksOptions, runtime: Runtime): PaymentLinks => {
  const { apiKey, timeoutMs = defaultTimeoutMs, triesMax = defaultTriesMax } = options;
  const origin = parseOrigin(options.url);
  // `fetch` would reject the key as well, but include it in its error message.
  if (apiKey !== undefined && !isHeaderValue(apiKey)) {
    throw new TypeError("apiKey must be an API key, exactly as the console showed it");
  }
  requireIntegerInRange("timeoutMs", timeoutMs, timeoutMsMax);
  requireIntegerInRange("triesMax", triesMax, triesMaxLimit);
  // Looked up for each call, so that a later replacement of the global `fetch` is used.
  const currentFetch: typeof fetch = (...fetchArguments) =>
    (options.fetch ?? fetch)(...fetchArguments);
  const settings = { origin, apiKey, timeoutMs, triesMax, fetch: currentFetch };
  const send = (request: ApiRequest): Promise<unknown> => sendRequest(settings, request, runtime);

  const listPaymentLinks: PaymentLinks["listPaymentLinks"] = async (
    filter = {},
    { signal } = {},
  ) => {
    const request = { method: "GET", path: `${basePath}?${buildQuery(filter)}`, signal } as const;
    // For the list, this code means that the service failed to read it.
    return (await send({
      ...request,
      internalErrorCode: "CANNOT_FIND_PAYMENT_LINK",
    })) as PaymentLinkPage;
  };

  return {
    createPaymentLink: async (
      link,
      { idempotencyKey = runtime.newIdempotencyKey(), signal } = {},
    ) => {
      if (typeof link.toAmount !== "string") {
        throw new TypeError("toAmount must be a string, such as '0.1'");
      }
      if (!isHeaderValue(idempotencyKey) || idempotencyKey.length > idempotencyKeyLengthMax) {
        throw new TypeError(
          "idempotencyKey must be 1 to 255 printable ASCII characters without spaces at either end",
        );
      }
      const body = JSON.stringify(link);
      const request = { method: "POST", path: basePath, body, idempotencyKey, signal } as const;
      return (await send(request)) as PaymentLinkCreationData;
    },
    listPaymentLinks,
    retrievePaymentLink: async (id, { signal } = {}) => {
      // With these three ids, the URL would be the list's or an unrelated one.
      if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
        throw new TypeError("id must be a link id, such as plink_…");
      }
      const request = {
        method: "GET",
        path: `${basePath}/${encodeURIComponent(id)}`,
        signal,
      } as const;
      return (await send(request)) as RetrievedPaymentLink;
    },
    eachPaymentLink: async function* (filter = {}, callOptions = {}) {
      const seenIds = new Set<string>();
      for (let offset: number | null = 0; offset !== null;) {
        const page: PaymentLinkPage = await listPaymentLinks({ ...filter, offset }, callOptions);
        for (const link of page.data) {
          if (seenIds.has(link.id)) continue;
          seenIds.add(link.id);
          yield link;
        }
        for (const id of seenIds) {
          if (seenIds.size <= seenIdsMax) break;
          seenIds.delete(id);
        }
        offset = page.nextOffset;
      }
    },
  };
};

const buildQuery = (filter: PaymentLinksFilter): string => {
  const definedParameters = Object.entries(filter).filter(([, value]) => value !== undefined);
  return new URLSearchParams(
    Object.fromEntries(definedParameters.map(([name, value]) => [name, String(value)])),
  ).toString();
};

/** Returns whether the value is printable ASCII without leading or trailing spaces. */
const isHeaderValue = (value: unknown): boolean =>
  typeof value === "string" && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);

const requireIntegerInRange = (name: string, value: number, max: number): void => {
  if (Number.isInteger(value) && value >= 1 && value <= max) return;
  throw new TypeError(`${name} must be an integer from 1 to ${max}`);
};

/**
 * Returns the origin of `url`. Errors never include the value: it may be an API key passed by
 * mistake.
 */
const parseOrigin = (url: string | URL): string => {
  const parsedUrl = URL.canParse(String(url)) ? new URL(url) : undefined;
  const { hash, origin, password, pathname, protocol, search, username } = parsedUrl ?? {};
  const isOrigin = pathname === "/" && `${search}${hash}${username}${password}` === "";
  if (origin === undefined || !isOrigin || !/^https?:$/.test(protocol ?? "")) {
    throw new TypeError("url must be the service's origin, such as https://pay.example.com");
  }
  return origin;
};
