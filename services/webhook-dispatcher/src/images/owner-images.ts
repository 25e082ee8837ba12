import { LRUCache } from "lru-cache";
import { Counter } from "prom-client";
import { type Clock, type Log, type Metrics, afterMs } from "@payment-links/runtime";
import { DeadlineError, outcomeOfError } from "../delivery/attempt/attempt-outcome.ts";
import type { FetchImage, OwnerImage } from "./fetch-image.ts";
import { ImageFaultError } from "./image-fault.ts";

/** Owners' images, fetched once for everybody who asks within the hour. */
export type OwnerImages = {
  /** The image at an owner's URL; undefined if it could not be had. Never throws. */
  find(image: { ownerId: string; url: string }): Promise<OwnerImage | undefined>;
  /** Gives up what is being fetched. */
  close(): void;
};

type OwnerImagesOptions = { fetchImage: FetchImage; clock: Clock; log: Log; metrics: Metrics };

/** How long an image is shown without asking its host again, here and in a browser. */
export const imageKeptMs = 60 * 60_000;

/** How long a host that failed is left alone. */
const faultKeptMs = 60_000;
/** From the look-up to the last byte, all redirects included. */
const fetchMsMax = 5_000;
/** In this process. */
const fetchesMax = 16;
/** As many as an owner's images; an owner may change them while hosts hang. */
const fetchesOfOwnerMax = 2;
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
  const count = createImageCounter(options.metrics);
  const closing = new AbortController();
  const underWay = new Map<string, { ownerId: string; image: Promise<OwnerImage | undefined> }>();
  const kept = new LRUCache<string, { untilMs: number; image: OwnerImage | undefined }>({
    max: entriesMax,
    maxSize: bytesMax,
    sizeCalculation: ({ image }) => entryBytes + (image?.bytes.length ?? 0),
  });

  const fetchAndKeep = async (url: string): Promise<OwnerImage | undefined> => {
    const { image, outcome } = await fetchInTime(options, url, closing.signal);
    count(outcome);
    const keptMs = image === undefined ? faultKeptMs : imageKeptMs;
    kept.set(url, { untilMs: clock.elapsedMs() + keptMs, image });
    underWay.delete(url);
    return image;
  };

  /** There are few calls, so that looking at each costs less than keeping count. */
  const isBusyFor = (ownerId: string): boolean =>
    underWay.size >= fetchesMax ||
    [...underWay.values()].filter((call) => call.ownerId === ownerId).length >= fetchesOfOwnerMax;

  return {
    find: async ({ ownerId, url }) => {
      const known = kept.get(url);
      if (known !== undefined && clock.elapsedMs() < known.untilMs) return known.image;
      const asked = underWay.get(url);
      if (asked !== undefined) return asked.image;
      if (isBusyFor(ownerId)) {
        count("busy");
        return undefined;
      }
      const image = fetchAndKeep(url);
      underWay.set(url, { ownerId, image });
      return image;
    },
    close: () => closing.abort(new DeadlineError()),
  };
};

type Fetched = { image: OwnerImage | undefined; outcome: string };

const fetchInTime = async (
  { fetchImage, clock, log }: OwnerImagesOptions,
  url: string,
  closing: AbortSignal,
): Promise<Fetched> => {
  const expiry = new AbortController();
  const over = new AbortController();
  void clock
    .until(afterMs(clock, fetchMsMax), over.signal)
    .then(() => expiry.abort(new DeadlineError()));
  try {
    const image = await fetchImage(url, AbortSignal.any([expiry.signal, closing]));
    return { image, outcome: "fetched" };
  } catch (error) {
    const outcome = error instanceof ImageFaultError ? error.kind : outcomeOfError(error).kind;
    if (outcome === "internal") log.error({ err: error }, "an owner's image failed on our side");
    return { image: undefined, outcome };
  } finally {
    over.abort("it has ended");
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
