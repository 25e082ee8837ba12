import { LRUCache } from "lru-cache";
import { Counter } from "prom-client";
import { type Clock, type Log, type Metrics, afterMs } from "@payment-links/runtime";
import { DeadlineError, outcomeFromError } from "../delivery/attempt/attempt-outcome.ts";
import type { FetchImage, OwnerImage } from "./fetch-image.ts";
import { ImageError } from "./image-error.ts";

/** Owners' images, cached for an hour. */
export type OwnerImages = {
  /** Returns the image at an owner's URL, or undefined if it is unavailable. Never throws. */
  find(image: { ownerId: string; url: string }): Promise<OwnerImage | undefined>;
  /** Aborts all fetches in progress. */
  close(): void;
};

type OwnerImagesOptions = { fetchImage: FetchImage; clock: Clock; log: Log; metrics: Metrics };

/** How long an image is cached in this process and in browsers. */
export const imageCacheMs = 60 * 60_000;

/** How long a failed fetch is not repeated. */
const failureCacheMs = 60_000;
/** The timeout of a fetch, from the DNS lookup to the last byte, including all redirects. */
const fetchMsMax = 5_000;
/** The maximum number of concurrent fetches in this process. */
const fetchesMax = 16;
/**
 * The maximum number of concurrent fetches per owner. An owner has only two images, but can change
 * them while their hosts hang.
 */
const fetchesPerOwnerMax = 2;
/**
 * If all fetches are in use, a request for another image aborts the oldest fetch, provided that it
 * has taken longer than this.
 */
const contendedFetchMsMax = 1_000;
const entriesMax = 2_000;
const bytesMax = 32 * 1024 * 1024;
/** The memory of a cache entry without the image. It includes a long URL. */
const entryBytes = 4 * 1024;

/**
 * Creates the cache of owners' images. Concurrent requests for one URL share one fetch. Failures
 * are cached too, so that visitors cannot make the service request a host repeatedly.
 */
export const createOwnerImages = (options: OwnerImagesOptions): OwnerImages => {
  const { clock } = options;
  const countFetch = createImageCounter(options.metrics);
  const closeController = new AbortController();
  /** By URL, oldest first. */
  const activeFetches = new Map<string, ActiveFetch>();
  const imageCache = new LRUCache<string, { expiresAtMs: number; image: OwnerImage | undefined }>({
    max: entriesMax,
    maxSize: bytesMax,
    sizeCalculation: ({ image }) => entryBytes + (image?.bytes.length ?? 0),
  });

  const fetchAndCache = async (
    url: string,
    signal: AbortSignal,
  ): Promise<OwnerImage | undefined> => {
    const abortSignal = AbortSignal.any([closeController.signal, signal]);
    const { image, outcome } = await fetchWithTimeout(options, url, abortSignal);
    countFetch(outcome);
    const cacheMs = image === undefined ? failureCacheMs : imageCacheMs;
    imageCache.set(url, { expiresAtMs: clock.elapsedMs() + cacheMs, image });
    // The fetch may have been aborted and replaced by a newer one for the same URL.
    if (activeFetches.get(url)?.abortController.signal === signal) activeFetches.delete(url);
    return image;
  };

  /** Returns whether the owner may start a fetch. May abort the oldest fetch to make room. */
  const reserveFetchSlot = (ownerId: string): boolean => {
    // There are so few fetches that a scan costs less than maintaining counts.
    const ownerFetches = [...activeFetches.values()].filter(
      (activeFetch) => activeFetch.ownerId === ownerId,
    );
    if (ownerFetches.length >= fetchesPerOwnerMax) return false;
    if (activeFetches.size < fetchesMax) return true;
    const [oldestEntry] = activeFetches;
    if (
      oldestEntry === undefined ||
      clock.elapsedMs() < oldestEntry[1].startedMs + contendedFetchMsMax
    ) {
      return false;
    }
    const [url, { abortController }] = oldestEntry;
    activeFetches.delete(url);
    abortController.abort(new ImageError("busy"));
    return true;
  };

  return {
    find: async ({ ownerId, url }) => {
      const cached = imageCache.get(url);
      if (cached !== undefined && clock.elapsedMs() < cached.expiresAtMs) return cached.image;
      const activeFetch = activeFetches.get(url);
      if (activeFetch !== undefined) return activeFetch.image;
      if (!reserveFetchSlot(ownerId)) {
        countFetch("busy");
        return undefined;
      }
      const abortController = new AbortController();
      const image = fetchAndCache(url, abortController.signal);
      activeFetches.set(url, { ownerId, image, startedMs: clock.elapsedMs(), abortController });
      return image;
    },
    close: () => closeController.abort(new DeadlineError()),
  };
};

type ActiveFetch = {
  ownerId: string;
  image: Promise<OwnerImage | undefined>;
  startedMs: number;
  abortController: AbortController;
};

type FetchResult = { image: OwnerImage | undefined; outcome: string };

const fetchWithTimeout = async (
  { fetchImage, clock, log }: OwnerImagesOptions,
  url: string,
  abortSignal: AbortSignal,
): Promise<FetchResult> => {
  const timeoutController = new AbortController();
  const finishedController = new AbortController();
  void clock
    .sleepUntil(afterMs(clock, fetchMsMax), finishedController.signal)
    .then(() => timeoutController.abort(new DeadlineError()));
  try {
    const image = await fetchImage(url, AbortSignal.any([timeoutController.signal, abortSignal]));
    return { image, outcome: "fetched" };
  } catch (error) {
    const outcome = error instanceof ImageError ? error.kind : outcomeFromError(error).kind;
    if (outcome === "internal") log.error({ err: error }, "image fetch failed internally");
    return { image: undefined, outcome };
  } finally {
    finishedController.abort("fetch ended");
  }
};

const createImageCounter = (metrics: Metrics) => {
  const fetches = new Counter({
    name: "payment_links_owner_image_fetches_total",
    help: "Requested fetches of owners' images, by outcome",
    labelNames: ["outcome"] as const,
    registers: [metrics],
  });
  return (outcome: string) => fetches.inc({ outcome });
};
