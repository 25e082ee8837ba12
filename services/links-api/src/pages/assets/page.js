// Improves the checkout and the receipt: formats amounts and times for the visitor's locale, counts
// down to the link's expiry, and shows the buttons that copy and print.

import { formatDecimal } from "./amounts.js";

const tickMs = 1_000;
/** How long a copy button says that the text was copied. */
const copiedMs = 2_000;
const countdownMsMax = 24 * 60 * 60_000;

const dateTimeOptions = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
};

const handledElements = new WeakSet();

/**
 * Calls back once for each matching element. Handling an element twice would trigger the mutation
 * observer again.
 */
const forEachNewElement = (selector, handle) => {
  for (const element of document.querySelectorAll(selector)) {
    if (handledElements.has(element)) continue;
    handledElements.add(element);
    handle(element);
  }
};

let countdown;
/**
 * The time of the expiry on this device's clock. It is computed from the remaining time, so that it
 * is correct even if the clock is wrong.
 */
let expiresAtMs;

const padTwoDigits = (number) => String(number).padStart(2, "0");
const formatRemainingTime = (milliseconds) => {
  const seconds = Math.ceil(milliseconds / 1_000);
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => padTwoDigits(Math.floor(part))).join(":");
};

const updateCountdown = () => {
  if (countdown === undefined) return;
  const remainingMs = expiresAtMs - Date.now();
  countdown.hidden = remainingMs > countdownMsMax;
  if (countdown.hidden) return;
  if (remainingMs > 0) {
    countdown.textContent = countdown.dataset.text.replace(
      "{left}",
      formatRemainingTime(remainingMs),
    );
  } else showExpired(countdown.closest("main"));
};

/** `main` is null if a page refresh has removed the countdown. */
const showExpired = (main) => {
  main?.classList.add("expired");
  for (const element of main?.querySelectorAll("[data-at-expiry]") ?? []) element.hidden = false;
};

const copyText = async (button) => {
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.querySelector("span");
  const { ariaLabel } = button;
  const { textContent } = label;
  const { copied } = button.dataset;
  if (textContent === copied) return;
  label.textContent = copied;
  button.ariaLabel = copied;
  setTimeout(() => {
    label.textContent = textContent;
    button.ariaLabel = ariaLabel;
  }, copiedMs);
};

const enhanceNewElements = () => {
  forEachNewElement("[data-left-ms]", (element) => {
    countdown = element;
    expiresAtMs = Date.now() + Number(element.dataset.leftMs);
    updateCountdown();
  });
  forEachNewElement("#print", (button) => {
    button.hidden = false;
    button.addEventListener("click", () => print());
  });
  forEachNewElement("[data-copy]", (button) => {
    button.hidden = navigator.clipboard === undefined;
    button.addEventListener("click", () => copyText(button));
  });
  // Loading the browser's locale data is the slowest part, so it happens after the next frame.
  requestAnimationFrame(() => setTimeout(localizeNewElements));
};

const localizeNewElements = () => {
  forEachNewElement("data", (data) => (data.textContent = formatDecimal(data.value)));
  forEachNewElement(
    "time",
    (time) => (time.textContent = new Date(time.dateTime).toLocaleString([], dateTimeOptions)),
  );
};

enhanceNewElements();
// Runs again for new elements, because a page refresh replaces parts of the document.
new MutationObserver(enhanceNewElements).observe(document.body, { childList: true, subtree: true });
setInterval(updateCountdown, tickMs);
