// Refreshes the page when its link's state changes. The new page comes from the server, which alone
// decides how a link looks, and replaces the content of the current one.

const refreshMs = 4_000;

const doNothing = () => undefined;
const find = (selector) => document.querySelector(selector);
const getFileUrl = (element) => element.getAttribute("src") ?? element.getAttribute("href");
const listFileUrls = (page) => [...page.querySelectorAll("script, link")].map(getFileUrl);

/**
 * Summarizes what a page shows of a link, in the format of the server's `data-state`. A page whose
 * script pays renders pending payments itself, so they are left out there while the link can be
 * paid.
 */
const summarizeState = ({ status, receivedAmount, reason, pendingPayments }, canPay) => {
  const pendingIds = reason === null && canPay ? [] : pendingPayments.map(({ id }) => id);
  return [status, receivedAmount, String(reason), ...pendingIds].join(" ");
};

/**
 * Replaces the current page with a newer one. Returns false if the new page needs files that this
 * page does not support, because it is from another version or does more; then it has to be loaded
 * normally. `supportedScripts` are the URLs of scripts whose pages this script can show as well,
 * separated by spaces. `preserveElements` moves elements that must survive into the new `main`.
 */
const replacePage = (newDocument, { supportedScripts, preserveElements }) => {
  const supportedFiles = new Set([...listFileUrls(document), ...supportedScripts.split(" ")]);
  if (!listFileUrls(newDocument).every((url) => supportedFiles.has(url))) return false;
  const focusedElement = document.activeElement;
  const [oldMain, newMain] = [find("main"), newDocument.querySelector("main")];
  preserveElements(newMain);
  for (const details of newMain.querySelectorAll("details")) {
    details.open = oldMain.querySelector(`#${details.id}`)?.open ?? false;
  }
  oldMain.replaceWith(newMain);
  document.title = newDocument.title;
  // An open link without payments shows no state.
  const stateElement = find(".state:not([hidden])") ?? find("h1");
  stateElement.tabIndex = -1;
  // Focus makes a screen reader read out the new state.
  (focusedElement?.isConnected && focusedElement !== document.body
    ? focusedElement
    : stateElement
  ).focus({
    preventScroll: true,
  });
  return true;
};

/**
 * Refreshes the page when the state of its link differs from the rendered one. `dataset` holds the
 * server's data of the page, and `getLink` returns the current link. `canPay` is whether the page's
 * script pays, and `isRefreshBlocked` returns whether nothing may be replaced now. Returns a
 * function that checks immediately. The same check runs every few seconds.
 */
export const startPageRefresh = ({
  dataset,
  getLink,
  canPay = false,
  isRefreshBlocked = () => false,
  preserveElements = doNothing,
  onRefreshed = doNothing,
}) => {
  let { state: renderedState } = dataset;
  let isRefreshing = false;

  const refreshPage = async () => {
    const link = getLink();
    if (
      isRefreshing ||
      isRefreshBlocked() ||
      link === undefined ||
      summarizeState(link, canPay) === renderedState
    )
      return;
    isRefreshing = true;
    try {
      const response = await fetch(location.href);
      if (!response.ok) throw new Error(`the page is ${response.status}`);
      const newDocument = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!isRefreshBlocked()) {
        const options = { supportedScripts: dataset.scripts, preserveElements };
        if (!replacePage(newDocument, options)) return location.reload();
        renderedState = summarizeState(link, canPay);
        onRefreshed();
      }
    } catch {
      // The next check retries.
    }
    isRefreshing = false;
  };

  setInterval(() => {
    if (!document.hidden) void refreshPage();
  }, refreshMs);
  return refreshPage;
};
