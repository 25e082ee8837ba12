import { type Html, html } from "./html.ts";

const format = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});

/** An instant for people, in UTC, as the server does not know theirs. */
export const showTime = (instant: Date): Html =>
  html`<time datetime="${instant.toISOString()}">${format.format(instant)} UTC</time>`;
