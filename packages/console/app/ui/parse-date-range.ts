/**
 * Converts two days in the user's time zone to a range of instants. The days have the format of
 * date fields and URLs.
 */
export const parseDateRange = ({ from, to }: { from?: string | null; to?: string | null }) => ({
  from: startOfDay(from ?? "", 0),
  // The start of the next day, so that the whole last day is included, even if it has 23 or 25
  // hours.
  to: startOfDay(to ?? "", 1),
});

const startOfDay = (day: string, daysLater: number): string | undefined => {
  const date = new Date(`${day}T00:00`);
  if (Number.isNaN(date.getTime())) return undefined;
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
};
