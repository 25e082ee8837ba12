const amountFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 100 });
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** An amount in the person's grouping, every digit kept. */
export const formatAmount = (amount: string): string =>
  /^\d+(\.\d+)?$/.test(amount) ? amountFormat.format(amount as `${number}`) : amount;

/** A whole number in the person's grouping. */
export const formatCount = (count: number): string => amountFormat.format(count);

const megabyteFormat = new Intl.NumberFormat(undefined, {
  style: "unit",
  unit: "megabyte",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** So many bytes, in megabytes. */
export const formatBytes = (bytes: number): string => megabyteFormat.format(bytes / 1_000_000);

/** An instant in the person's time and words. */
export const formatDateTime = (instant: string): string => timeFormat.format(new Date(instant));

/** An address or id in the middle of which something is left out. */
export const truncateMiddle = (text: string): string =>
  text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`;
