// What the checkout and the receipt do beyond showing: amounts and times as their reader writes them,
// the end of a link at its time, and a receipt on paper.

import { grouped } from "./amounts.js";

const tickMs = 1_000;
const countdownMsMax = 24 * 60 * 60_000;

const timeForm = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
};

const known = new WeakSet();

/** What was seen before is left alone: to show it is a change of the page, too. */
const each = (selector, show) => {
  for (const element of document.querySelectorAll(selector)) {
    if (known.has(element)) continue;
    known.add(element);
    show(element);
  }
};

let countdown;
/** By the clock of this device, whatever time it shows. */
let endsAt;

const digits = (number) => String(number).padStart(2, "0");
const left = (milliseconds) => {
  const seconds = Math.ceil(milliseconds / 1_000);
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => digits(Math.floor(part))).join(":");
};

const tick = () => {
  if (countdown === undefined) return;
  const leftMs = endsAt - Date.now();
  countdown.hidden = leftMs > countdownMsMax;
  if (countdown.hidden) return;
  if (leftMs > 0) countdown.textContent = countdown.dataset.text.replace("{left}", left(leftMs));
  else expire(countdown.closest("main"));
};

/** The page that the countdown stood in may be gone. */
const expire = (main) => {
  main?.classList.add("expired");
  for (const words of main?.querySelectorAll("[data-at-expiry]") ?? []) words.hidden = false;
};

/** Deals with what is new in the page. */
const show = () => {
  each("[data-left-ms]", (element) => {
    countdown = element;
    endsAt = Date.now() + Number(element.dataset.leftMs);
    tick();
  });
  each("#print", (button) => {
    button.hidden = false;
    button.addEventListener("click", () => print());
  });
  // To learn how its reader writes them takes a browser longer than all the rest, which comes first.
  requestAnimationFrame(() => setTimeout(write));
};

const write = () => {
  each("data", (data) => (data.textContent = grouped(data.value)));
  each("time", (time) => (time.textContent = new Date(time.dateTime).toLocaleString([], timeForm)));
};

show();
// Another script may put a newer page in the place of this one.
new MutationObserver(show).observe(document.body, { childList: true, subtree: true });
setInterval(tick, tickMs);
