// Follows a link on pages whose script does not pay, because the link has ended or is paid in
// another way. On these pages a payment can still be confirming, and a closed link can open again.

import "./page.js";
import { followLink } from "./live.js";
import { selectOption } from "./options.js";
import { startPageRefresh } from "./renew.js";
import { showStep } from "./stepper.js";

const section = document.querySelector("#follow");
const { link: linkId, offline: offlineText } = section.dataset;
const linkUrl = `/checkout/payment-links/${encodeURIComponent(linkId)}`;

let link;

// No browser wallet pays on these pages.
const selectFittingOption = () => selectOption(false);

const refreshPage = startPageRefresh({
  dataset: section.dataset,
  getLink: () => link,
  onRefreshed: selectFittingOption,
});

const applyLinkState = (state) => {
  link = state;
  const [pendingPayment] = link.pendingPayments;
  if (pendingPayment !== undefined) showStep("confirming", pendingPayment.confirmations);
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

selectFittingOption();
followLink({
  getEventsUrl: () => `${linkUrl}/events`,
  fetchState: fetchLink,
  onState: applyLinkState,
  setOffline,
});
