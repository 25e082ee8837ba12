import { type Html, html } from "@payment-links/http";

const format = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});

/** An instant for people, in UTC, because the server does not know their time zone. */
export const showTime = (instant: Date): Html =>
  html`<time datetime="${instant.toISOString()}">${format.format(instant)} UTC</time>`;
