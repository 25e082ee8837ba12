import { LRUCache } from "lru-cache";
import { Counter } from "prom-client";
import { type Clock, type Log, type Metrics, afterMs } from "@payment-links/runtime";
import { DeadlineError, outcomeFromError } from "../delivery/attempt/attempt-outcome.ts";
import type { FetchImage, OwnerImage } from "./fetch-image.ts";
import { ImageError } from "./image-error.ts";

/** Owners' images, fetched once for everybody who asks within the hour. */
export type OwnerImages = {
  /** The image at an owner's URL; undefined if it could not be had. Never throws. */
  find(image: { ownerId: string; url: string }): Promise<OwnerImage | undefined>;
  /** Gives up what is being fetched. */
  close(): void;
};

type OwnerImagesOptions = { fetchImage: FetchImage; clock: Clock; log: Log; metrics: Metrics };

/** How long an image is shown without asking its host again, here and in a browser. */
export const imageCacheMs = 60 * 60_000;

/** How long a host that failed is left alone. */
const failureCacheMs = 60_000;
/** From the look-up to the last byte, all redirects included. */
const fetchMsMax = 5_000;
/** In this process. */
const fetchesMax = 16;
/** As many as an owner's images; an owner may change them while hosts hang. */
const fetchesPerOwnerMax = 2;
/** While all calls are in use, one that takes longer ends as another owner's image is asked for. */
const contendedFetchMsMax = 1_000;
const entriesMax = 2_000;
const bytesMax = 32 * 1024 * 1024;
/** What an entry costs beside its bytes, a long URL included. */
const entryBytes = 4 * 1024;

/**
 * Makes the store of owners' images: those who ask for one URL at once share one call, and what fails
 * is remembered too, so that nobody can have a host asked again and again.
 */
export const createOwnerImages = (options: OwnerImagesOptions): OwnerImages => {
  const { clock } = options;
  const countFetch = createImageCounter(options.metrics);
  const closeController = new AbortController();
  /** By URL, the oldest first. */
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
    // It may have given up its place, and the image may have been asked for again since.
    if (activeFetches.get(url)?.abortController.signal === signal) activeFetches.delete(url);
    return image;
  };

  /** Whether there is room for a call for an owner, perhaps in place of the one that takes longest. */
  const reserveFetchSlot = (ownerId: string): boolean => {
    // There are few calls, so that looking at each costs less than keeping count.
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
    if (outcome === "internal") log.error({ err: error }, "an owner's image failed on our side");
    return { image: undefined, outcome };
  } finally {
    finishedController.abort("it has ended");
  }
};

const createImageCounter = (metrics: Metrics) => {
  const fetches = new Counter({
    name: "payment_links_owner_image_fetches_total",
    help: "Owners' images that were to be fetched, by how that ended",
    labelNames: ["outcome"] as const,
    registers: [metrics],
  });
  return (outcome: string) => fetches.inc({ outcome });
};
