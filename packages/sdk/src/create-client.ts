import type { CallOptions } from "./call-options.ts";
import { type PaymentLinkChanges, eachLink, listChanges } from "./list-links.ts";
import { requireIntegerInRange } from "./require-integer.ts";
import { type ApiRequest, type ClientSettings, sendRequest } from "./send-request.ts";
import type {
  NewPaymentLink,
  PaymentLinkCreationData,
  PaymentLinkData,
  PaymentLinkPage,
  PaymentLinksFilter,
  RetrievedPaymentLink,
} from "./shapes.ts";
import type { Runtime } from "./runtime.ts";
import { type WaitOptions, waitForLink } from "./wait-for-link.ts";

export type PaymentLinksOptions = {
  /** The service's origin, such as `https://pay.example.com`. */
  url: string | URL;
  /** An API key. It is not required for retrieving a single link. */
  apiKey?: string | undefined;
  /** The timeout of one attempt, from 1 to 600,000 ms. Default: 10,000 ms. */
  timeoutMs?: number | undefined;
  /**
   * The maximum number of attempts per call, from 1 to 100. Default: 5. A call is retried if no
   * response arrives or if the response reports a temporary error. The delays are 1, 2, 4, 8 s and
   * so on, plus jitter, up to one minute. A delay is never shorter than `Retry-After`.
   */
  triesMax?: number | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /**
   * Called with a text when the service ignores a field of a link, for example because it is
   * misspelled. Called once per field name. Default: `console.warn`.
   */
  onWarning?: ((message: string) => void) | undefined;
};

export type CreateOptions = CallOptions & {
  /**
   * 1 to 255 printable ASCII characters without leading or trailing spaces, unique for each link.
   *   For 24 hours, another create with the same key and with the same fields, values and field
   *   order returns the same link. The default is random and covers only the attempts of this call.
   *   If you pass the order number, a crash before the response arrives cannot lead to a second
   *   link either.
   */
  idempotencyKey?: string | undefined;
};

/** The input of a create. The amount is text because JavaScript numbers are floats. */
export type LinkToCreate = Omit<NewPaymentLink, "toAmount"> & { toAmount: string };

/**
 * A client of the public API. It has the operations of `/v1/openapi.json`, with the same names, and
 * methods that combine several calls. They throw a `PaymentLinksError` for an error response and a
 * `NoAnswerError` if no response arrives.
 */
export type PaymentLinks = {
  /**
   * Creates a link. Requires the scope `payment_link:create`. Send the payer to the `url` in the
   * response.
   */
  createPaymentLink(link: LinkToCreate, options?: CreateOptions): Promise<PaymentLinkCreationData>;
  /**
   * Returns one page of ten links, newest first or, with `updatedAfter`, latest change first.
   * Requires the scope `payment_link:read`.
   */
  listPaymentLinks(filter?: PaymentLinksFilter, options?: CallOptions): Promise<PaymentLinkPage>;
  /** Returns one link with its owner's public profile. Does not require an API key. */
  retrievePaymentLink(id: string, options?: CallOptions): Promise<RetrievedPaymentLink>;
  /**
   * Yields every link of the list, newest first or, with `updatedAfter`, latest change first.
   * Requests pages as the loop needs them. Links that are created during the loop may be missing.
   * No link is yielded twice. If a link stops matching the `status` filter during the loop, another
   * link may be skipped. If you need every link, omit the status.
   */
  eachPaymentLink(
    filter?: Pick<PaymentLinksFilter, "status" | "updatedAfter">,
    options?: CallOptions,
  ): AsyncGenerator<PaymentLinkData, void, undefined>;
  /**
   * Lists the links that changed since the previous run: those that were created, got a payment,
   * changed their status or expired. `since` is the `nextSince` of that run. Without it, all links
   * are listed. A link that changed in the last five minutes before the previous run is listed
   * again, so handle a repeated link like a new one. Together, the runs miss no change.
   */
  reconcilePaymentLinks(
    from?: { since?: string | Date | null | undefined },
    options?: CallOptions,
  ): PaymentLinkChanges;
  /**
   * Returns the link as soon as it is completed or no longer active. Polls it, at first every
   * second and later every 15 seconds. A delay is never shorter than `Retry-After`, and temporary
   * errors do not end the wait. Throws a `WaitTimeoutError` after `timeoutMs`. Does not require an
   * API key.
   */
  waitForPaymentLink(id: string, options?: WaitOptions): Promise<RetrievedPaymentLink>;
};

const defaultTimeoutMs = 10_000;
const defaultTriesMax = 5;
const timeoutMsMax = 600_000;
const triesMaxLimit = 100;
const idempotencyKeyLengthMax = 255;
const basePath = "/v1/payment-link";

/** Creates a client on the given runtime. Throws a `TypeError` if an option is invalid. */
export const createClient = (options: PaymentLinksOptions, runtime: Runtime): PaymentLinks => {
  const { apiKey, timeoutMs = defaultTimeoutMs, triesMax = defaultTriesMax } = options;
  const origin = parseOrigin(options.url);
  // `fetch` would also reject the key, but its error message would include the key.
  if (apiKey !== undefined && !isHeaderValue(apiKey)) {
    throw new TypeError("apiKey must be an API key exactly as shown in the console");
  }
  requireIntegerInRange("timeoutMs", timeoutMs, timeoutMsMax);
  requireIntegerInRange("triesMax", triesMax, triesMaxLimit);
  // The global `fetch` is looked up for each call, so that a replacement takes effect.
  const currentFetch: typeof fetch = (...fetchArguments) =>
    (options.fetch ?? fetch)(...fetchArguments);
  const settings = { origin, apiKey, timeoutMs, triesMax, fetch: currentFetch };
  const send = createSend(settings, runtime, options.onWarning);

  const listPaymentLinks: PaymentLinks["listPaymentLinks"] = async (
    filter = {},
    { signal } = {},
  ) => {
    const request = { method: "GET", path: `${basePath}?${buildQuery(filter)}`, signal } as const;
    // For the list, this error code means that the service failed to read the links.
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
    retrievePaymentLink: async (id, options) => retrieveLink(settings, runtime, id, options),
    eachPaymentLink: (filter, callOptions) => eachLink(listPaymentLinks, filter, callOptions),
    reconcilePaymentLinks: ({ since } = {}, callOptions = {}) =>
      listChanges(listPaymentLinks, since, callOptions),
    waitForPaymentLink: async (id, waitOptions = {}) => {
      const retrieve = (remainingMs: number) => {
        const attempt = { timeoutMs: Math.min(timeoutMs, remainingMs), triesMax: 1 };
        return retrieveLink({ ...settings, ...attempt }, runtime, id, waitOptions);
      };
      return waitForLink(retrieve, waitOptions, runtime);
    },
  };
};

const retrieveLink = async (
  settings: ClientSettings,
  runtime: Runtime,
  id: string,
  { signal }: CallOptions = {},
): Promise<RetrievedPaymentLink> => {
  // With these three ids, the URL would be that of the list or of another resource.
  if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
    throw new TypeError("id must be a link id, such as plink_…");
  }
  const path = `${basePath}/${encodeURIComponent(id)}`;
  const { body } = await sendRequest(settings, { method: "GET", path, signal }, runtime);
  return body as RetrievedPaymentLink;
};

/** Creates the function that sends a call, and warns about the fields that the service ignored. */
const createSend = (
  settings: ClientSettings,
  runtime: Runtime,
  // oxlint-disable-next-line no-console -- without a callback, a developer sees the warning here
  onWarning: PaymentLinksOptions["onWarning"] = (message) => console.warn(message),
) => {
  const warnAboutIgnoredFields = createFieldWarnings(onWarning);
  return async (request: ApiRequest): Promise<unknown> => {
    const { body, ignoredFields } = await sendRequest(settings, request, runtime);
    warnAboutIgnoredFields(ignoredFields);
    return body;
  };
};

const warnedFieldsMax = 1_000;

/** Creates the function that warns once per ignored field. A failing callback fails no call. */
const createFieldWarnings = (onWarning: (message: string) => void) => {
  const warnedFields = new Set<string>();
  return (ignoredFields: string): void => {
    for (const name of ignoredFields.split(", ")) {
      if (!/^[\w.-]{1,40}$/.test(name) || warnedFields.has(name)) continue;
      if (warnedFields.size >= warnedFieldsMax) return;
      warnedFields.add(name);
      try {
        onWarning(`Payment Links ignored the field "${name}" of a new link. Check its name.`);
      } catch {
        // The link has been created.
      }
    }
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

/**
 * Returns the origin of `url`. Errors never include the value, because it may be an API key that
 * was passed by mistake.
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
