// What the checkout does where its script does not pay, as the link has ended or is paid by hand: it follows
// the link, as a payment may be on its way, and what was closed may open again.

import "./page.js";
import { follow } from "./live.js";
import { keepNew } from "./renew.js";

const section = document.querySelector("#follow");
const { link: linkId, offline } = section.dataset;
const address = `/checkout/payment-links/${encodeURIComponent(linkId)}`;

let link;

const renew = keepNew({ dataset: section.dataset, link: () => link });

const hear = (state) => {
  link = state;
  void renew();
};

const setOffline = (is) => {
  const words = document.querySelector("#offline");
  if (words !== null) words.textContent = is ? offline : "";
};

const ask = async () => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the link is ${answer.status}`);
  return answer.json();
};

follow({ addressOf: () => `${address}/events`, ask, hear, setOffline });
