import type { RecentHour } from "@payment-links/contracts";

/** How many attempts to an endpoint succeeded and failed in one hour. */
export type EndpointHour = {
  endpointId: string;
  /** The start of the hour. */
  hour: Date;
  delivered: number;
  failed: number;
};

const hourMs = 60 * 60_000;

/** The number of hours reported per endpoint, including the current one (rule HOOK-17). */
const recentHoursCount = 24;

/** Returns the start of an instant's hour in UTC. */
export const startOfHour = (instant: Date): Date =>
  new Date(Math.floor(instant.getTime() / hourMs) * hourMs);

/** Returns the starts of the recent hours, oldest first. */
export const getRecentHours = (now: Date): Date[] =>
  Array.from(
    { length: recentHoursCount },
    (_, index) => new Date(startOfHour(now).getTime() - (recentHoursCount - 1 - index) * hourMs),
  );

/**
 * Serializes an endpoint's recent hourly delivery statistics for the console API, including hours
 * without attempts.
 */
export const serializeRecentHours = (
  endpointHours: readonly EndpointHour[],
  now: Date,
): RecentHour[] =>
  getRecentHours(now).map((hour) => {
    const matchingHour = endpointHours.find(
      (endpointHour) => endpointHour.hour.getTime() === hour.getTime(),
    );
    const { delivered = 0, failed = 0 } = matchingHour ?? {};
    return { hour: hour.toISOString(), delivered, failed };
  });
