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
  /** An API key; whoever only retrieves links needs none. */
  apiKey?: string | undefined;
  /** How long one try may take, 1 to 600,000 ms; 10,000 ms unless given. */
  timeoutMs?: number | undefined;
  /**
   * How often a call is tried at most, 1 to 100 times; five unless given. It is tried again where no answer comes,
   * and where an answer says that this is worth it: after 1, 2, 4, 8 s, a little at random more, a
   * minute at most, never before `Retry-After`.
   */
  triesMax?: number | undefined;
  /** What sends requests; the `fetch` that is there unless given. */
  fetch?: typeof fetch | undefined;
};

export type CallOptions = {
  /**
   * Ends the call, its waiting included, with the signal's reason. A create that is ended so may have
   * been done: give it an idempotency key of your own.
   */
  signal?: AbortSignal | null | undefined;
};

export type CreateOptions = CallOptions & {
  /**
   * 1 to 255 printable ASCII characters with no space at either end, one of its own for each link: for 24
   * hours whoever creates under it gets the same link, if the fields are the same, with the same values
   * and in the same order. Drawn at random unless given, which holds for this call's own tries: give the
   * order's number, and a crash between call and answer makes no second link either.
   */
  idempotencyKey?: string | undefined;
};

/** What create takes. An amount is text, as a number of JavaScript is a float. */
export type LinkToCreate = Omit<NewPaymentLink, "toAmount"> & { toAmount: string };

/**
 * A client of the public API. Its methods are the operations of `/v1/openapi.json`, by the same names. A
 * refusal throws a PaymentLinksError, silence a NoAnswerError.
 */
export type PaymentLinks = {
  /** Needs the scope `payment_link:create`. Send the payer to the answer's `url`. */
  createPaymentLink(link: LinkToCreate, options?: CreateOptions): Promise<PaymentLinkCreationData>;
  /** One page of ten, newest first. Needs the scope `payment_link:read`. */
  listPaymentLinks(filter?: PaymentLinksFilter, options?: CallOptions): Promise<PaymentLinkPage>;
  /** One link with its owner's public profile. Needs no key. */
  retrievePaymentLink(id: string, options?: CallOptions): Promise<RetrievedPaymentLink>;
  /**
   * Every link of the list, newest first, page by page as the loop asks for more. A link that is made
   * meanwhile may be missing, and none comes twice. Where a link leaves the filter's status meanwhile, the
   * loop may miss another: look without a status where none may be missed.
   */
  eachPaymentLink(
    filter?: Pick<PaymentLinksFilter, "status">,
    options?: CallOptions,
  ): AsyncGenerator<PaymentLinkData, void, undefined>;
};

const defaultTimeoutMs = 10_000;
const defaultTriesMax = 5;
/** More links than are made while a page is asked for. */
const seenIdsMax = 10_000;
const timeoutMsMax = 600_000;
const triesMaxLimit = 100;
const idempotencyKeyLengthMax = 255;
const basePath = "/v1/payment-link";

/** Makes a client over the given world. Throws a TypeError where the options cannot be meant. */
export const createClient = (options: PaymentLinksOptions, runtime: Runtime): PaymentLinks => {
  const { apiKey, timeoutMs = defaultTimeoutMs, triesMax = defaultTriesMax } = options;
  const origin = parseOrigin(options.url);
  // `fetch` would refuse it, too, and tell it in its error.
  if (apiKey !== undefined && !isHeaderValue(apiKey)) {
    throw new TypeError("apiKey must be an API key, as it was shown");
  }
  requireIntegerInRange("timeoutMs", timeoutMs, timeoutMsMax);
  requireIntegerInRange("triesMax", triesMax, triesMaxLimit);
  // Asked for at each call, so that what replaces the global `fetch` later is used.
  const currentFetch: typeof fetch = (...fetchArguments) =>
    (options.fetch ?? fetch)(...fetchArguments);
  const settings = { origin, apiKey, timeoutMs, triesMax, fetch: currentFetch };
  const send = (request: ApiRequest): Promise<unknown> => sendRequest(settings, request, runtime);

  const listPaymentLinks: PaymentLinks["listPaymentLinks"] = async (
    filter = {},
    { signal } = {},
  ) => {
    const request = { method: "GET", path: `${basePath}?${buildQuery(filter)}`, signal } as const;
    // No link is asked for by name: here the code says that the list could not be read.
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
      if (typeof link.toAmount !== "string") throw new TypeError("toAmount must be text: '0.1'");
      if (!isHeaderValue(idempotencyKey) || idempotencyKey.length > idempotencyKeyLengthMax) {
        throw new TypeError(
          "idempotencyKey must be 1 to 255 printable ASCII characters, with no space at either end",
        );
      }
      const body = JSON.stringify(link);
      const request = { method: "POST", path: basePath, body, idempotencyKey, signal } as const;
      return (await send(request)) as PaymentLinkCreationData;
    },
    listPaymentLinks,
    retrievePaymentLink: async (id, { signal } = {}) => {
      // The last three would be another address: that of the list, or of nothing.
      if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
        throw new TypeError("id must be a link's: plink_…");
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

/** Whether it is printable ASCII, with no space at either end. */
const isHeaderValue = (value: unknown): boolean =>
  typeof value === "string" && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);

const requireIntegerInRange = (name: string, value: number, max: number): void => {
  if (Number.isInteger(value) && value >= 1 && value <= max) return;
  throw new TypeError(`${name} must be an integer from 1 to ${max}`);
};

/** What is no address stands in no error: it may be the key, which was put here by mistake. */
const parseOrigin = (url: string | URL): string => {
  const parsedUrl = URL.canParse(String(url)) ? new URL(url) : undefined;
  const { hash, origin, password, pathname, protocol, search, username } = parsedUrl ?? {};
  const isOrigin = pathname === "/" && `${search}${hash}${username}${password}` === "";
  if (origin === undefined || !isOrigin || !/^https?:$/.test(protocol ?? "")) {
    throw new TypeError("url must be the service's origin: https://pay.example.com");
  }
  return origin;
};
