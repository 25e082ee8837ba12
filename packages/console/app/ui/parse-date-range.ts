/** Converts two days in the user's time zone, as in date fields and URLs, to a range of instants. */
export const parseDateRange = ({ from, to }: { from?: string | null; to?: string | null }) => ({
  from: startOfDay(from ?? "", 0),
  // The start of the next day, so that the last day is included at any length.
  to: startOfDay(to ?? "", 1),
});

const startOfDay = (day: string, daysLater: number): string | undefined => {
  const date = new Date(`${day}T00:00`);
  if (Number.isNaN(date.getTime())) return undefined;
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
};
