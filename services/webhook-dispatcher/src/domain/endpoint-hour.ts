import type { RecentHour } from "@payment-links/contracts";

/** How many attempts to an endpoint were delivered and how many failed in one hour. */
export type EndpointHour = {
  endpointId: string;
  /** When it began. */
  hour: Date;
  delivered: number;
  failed: number;
};

const hourMs = 60 * 60_000;

/** Hours that an endpoint tells of, this one among them (rule HOOK-17). */
const recentHoursCount = 24;

/** When the hour of an instant began, in UTC. */
export const startOfHour = (instant: Date): Date =>
  new Date(Math.floor(instant.getTime() / hourMs) * hourMs);

/** When each of the recent hours began, the oldest first. */
export const getRecentHours = (now: Date): Date[] =>
  Array.from(
    { length: recentHoursCount },
    (_, index) => new Date(startOfHour(now).getTime() - (recentHoursCount - 1 - index) * hourMs),
  );

/** Every recent hour of one endpoint as the console API answers it, those without an attempt too. */
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
