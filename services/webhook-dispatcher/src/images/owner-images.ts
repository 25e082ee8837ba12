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
/** While all calls are in use, one that takes longer ends as another owner's image is asked for. */
const contestedMsMax = 1_000;
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
  /** By URL, the oldest first. */
  const underWay = new Map<string, Call>();
  const kept = new LRUCache<string, { untilMs: number; image: OwnerImage | undefined }>({
    max: entriesMax,
    maxSize: bytesMax,
    sizeCalculation: ({ image }) => entryBytes + (image?.bytes.length ?? 0),
  });

  const fetchAndKeep = async (
    url: string,
    signal: AbortSignal,
  ): Promise<OwnerImage | undefined> => {
    const ending = AbortSignal.any([closing.signal, signal]);
    const { image, outcome } = await fetchInTime(options, url, ending);
    count(outcome);
    const keptMs = image === undefined ? faultKeptMs : imageKeptMs;
    kept.set(url, { untilMs: clock.elapsedMs() + keptMs, image });
    // It may have given up its place, and the image may have been asked for again since.
    if (underWay.get(url)?.ending.signal === signal) underWay.delete(url);
    return image;
  };

  /** Whether there is room for a call for an owner, perhaps in place of the one that takes longest. */
  const makeRoom = (ownerId: string): boolean => {
    // There are few calls, so that looking at each costs less than keeping count.
    const ofOwner = [...underWay.values()].filter((call) => call.ownerId === ownerId);
    if (ofOwner.length >= fetchesOfOwnerMax) return false;
    if (underWay.size < fetchesMax) return true;
    const [oldest] = underWay;
    if (oldest === undefined || clock.elapsedMs() < oldest[1].startedMs + contestedMsMax) {
      return false;
    }
    const [url, { ending }] = oldest;
    underWay.delete(url);
    ending.abort(new ImageFaultError("busy"));
    return true;
  };

  return {
    find: async ({ ownerId, url }) => {
      const known = kept.get(url);
      if (known !== undefined && clock.elapsedMs() < known.untilMs) return known.image;
      const asked = underWay.get(url);
      if (asked !== undefined) return asked.image;
      if (!makeRoom(ownerId)) {
        count("busy");
        return undefined;
      }
      const ending = new AbortController();
      const image = fetchAndKeep(url, ending.signal);
      underWay.set(url, { ownerId, image, startedMs: clock.elapsedMs(), ending });
      return image;
    },
    close: () => closing.abort(new DeadlineError()),
  };
};

type Call = {
  ownerId: string;
  image: Promise<OwnerImage | undefined>;
  startedMs: number;
  ending: AbortController;
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
