/** Two days of the person's own, as date fields and addresses have them, as one stretch of time. */
export const readDays = ({ from, to }: { from?: string | null; to?: string | null }) => ({
  from: startOf(from ?? "", 0),
  // The whole of the last day, however many hours it has.
  to: startOf(to ?? "", 1),
});

const startOf = (day: string, daysLater: number): string | undefined => {
  const at = new Date(`${day}T00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + daysLater);
  return at.toISOString();
};
