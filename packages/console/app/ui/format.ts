const amountFormat = new Intl.NumberFormat(undefined, { maximumFractionDigits: 100 });
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Formats an amount for the user's locale with all digits. */
export const formatAmount = (amount: string, format = amountFormat): string =>
  /^\d+(\.\d+)?$/.test(amount) ? format.format(amount as `${number}`) : amount;

/** Formats a whole number for the user's locale. */
export const formatCount = (count: number): string => amountFormat.format(count);

const megabyteFormat = new Intl.NumberFormat(undefined, {
  style: "unit",
  unit: "megabyte",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** Formats a number of bytes as megabytes. */
export const formatBytes = (bytes: number): string => megabyteFormat.format(bytes / 1_000_000);

/** Formats a time in the user's locale and time zone. */
export const formatDateTime = (instant: string): string => timeFormat.format(new Date(instant));

/** Shortens an address or id by replacing its middle with an ellipsis. */
export const truncateMiddle = (text: string): string =>
  text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`;
