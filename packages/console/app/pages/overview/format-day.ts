/**
 * Formats a day of the chart. The service adds up payments by UTC day. The label is the date on
 * which most of that day lies in the user's time zone.
 */
export const formatDay = (day: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone }).format(
    new Date(`${day}T12:00:00Z`),
  );

/**
 * Formats a day with its exact limits in the user's time zone, unless it starts there at midnight.
 */
export const formatDayRange = (day: string, timeZone?: string): string => {
  const start = new Date(`${day}T00:00:00Z`);
  const date = { month: "short", day: "numeric" } as const;
  const time = { ...date, hour: "numeric", minute: "2-digit" } as const;
  const format = new Intl.DateTimeFormat(undefined, { ...time, timeZone });
  const isMidnight =
    format.format(start) ===
    new Intl.DateTimeFormat(undefined, { ...time, timeZone: "UTC" }).format(start);
  if (isMidnight) {
    return new Intl.DateTimeFormat(undefined, { ...date, weekday: "short", timeZone }).format(
      start,
    );
  }
  return format.formatRange(start, new Date(start.getTime() + 86_400_000));
};
