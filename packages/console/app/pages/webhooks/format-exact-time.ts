const exactTimeFormat = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});

/** Formats a time with seconds in the user's locale and time zone. */
export const formatExactTime = (instant: string): string =>
  exactTimeFormat.format(new Date(instant));
