// Follows a link on pages whose script does not pay, because the link has ended or is paid in
// another way. On these pages a payment can still be confirming, and a closed link can open again.

import "./page.js";
import { followLink } from "./live.js";
import { startPageRefresh } from "./renew.js";

const section = document.querySelector("#follow");
const { link: linkId, offline: offlineText } = section.dataset;
const linkUrl = `/checkout/payment-links/${encodeURIComponent(linkId)}`;

let link;

const refreshPage = startPageRefresh({ dataset: section.dataset, getLink: () => link });

const applyLinkState = (state) => {
  link = state;
  void refreshPage();
};

const setOffline = (isOffline) => {
  const element = document.querySelector("#offline");
  if (element !== null) element.textContent = isOffline ? offlineText : "";
};

const fetchLink = async () => {
  const response = await fetch(linkUrl);
  if (!response.ok) throw new Error(`the link is ${response.status}`);
  return response.json();
};

followLink({
  getEventsUrl: () => `${linkUrl}/events`,
  fetchState: fetchLink,
  onState: applyLinkState,
  setOffline,
});
