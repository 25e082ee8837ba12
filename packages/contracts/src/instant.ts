import * as z from "zod";

/** An instant as services exchange it: ISO 8601 in UTC on the wire, a Date in memory. */
export const Instant = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (instant) => instant.toISOString(),
});

const isoPattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/;

// Other years need a sign and six digits in ISO 8601, which events do not support.
const earliestMs = Date.parse("0001-01-01T00:00:00Z");
const latestMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses an ISO 8601 date-time from untrusted input (rule API-15). Returns undefined for anything
 * else, including an impossible calendar day, 24:00, a leap second, or a year outside 0001 to 9999
 * in UTC.
 */
export const parseInstant = (text: string): Date | undefined => {
  const match = isoPattern.exec(text);
  if (match === null) return undefined;
  const parseComponent = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(parseComponent) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3));
  const localTime = new Date(0);
  localTime.setUTCFullYear(year, month - 1, day);
  if (localTime.getUTCMonth() !== month - 1 || localTime.getUTCDate() !== day) return undefined;
  localTime.setUTCHours(hour, minute, second, milliseconds);
  const offsetMinutes = parseOffsetMinutes(match[8]);
  if (offsetMinutes === undefined) return undefined;
  const instant = new Date(localTime.getTime() - offsetMinutes * 60_000);
  return instant.getTime() < earliestMs || instant.getTime() > latestMs ? undefined : instant;
};

const parseOffsetMinutes = (text: string | undefined): number | undefined => {
  if (text === undefined || text.toUpperCase() === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
};
