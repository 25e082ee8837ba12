/** Two days of the person's own, as date fields and addresses have them, as one stretch of time. */
export const parseDateRange = ({ from, to }: { from?: string | null; to?: string | null }) => ({
  from: startOfDay(from ?? "", 0),
  // The whole of the last day, however many hours it has.
  to: startOfDay(to ?? "", 1),
});

const startOfDay = (day: string, daysLater: number): string | undefined => {
  const date = new Date(`${day}T00:00`);
  if (Number.isNaN(date.getTime())) return undefined;
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
};
