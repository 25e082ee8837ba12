// Refreshes the page when the state of its link changes. Only the server decides how a link is
// shown: the new content comes from the server and replaces the content of the page.

const refreshMs = 4_000;

const doNothing = () => undefined;
const find = (selector) => document.querySelector(selector);
const getFileUrl = (element) => element.getAttribute("src") ?? element.getAttribute("href");
const listFileUrls = (page) => [...page.querySelectorAll("script, link")].map(getFileUrl);

/**
 * Summarizes the part of a link's state that a page shows, in the format of the server's
 * `data-state`. If the page's script can pay the link, the summary does not contain pending
 * payments, because the script renders them itself.
 */
const summarizeState = ({ status, receivedAmount, reason, pendingPayments }, canPay) => {
  const pendingIds = reason === null && canPay ? [] : pendingPayments.map(({ id }) => id);
  return [status, receivedAmount, String(reason), ...pendingIds].join(" ");
};

/**
 * Replaces the content of the current page with that of a newer one. Returns false if the new page
 * needs files that this page did not load, because it is from another version or has more features.
 * It then has to be loaded normally. `supportedScripts` contains the URLs of other scripts whose
 * pages this script can show, separated by spaces. `preserveElements` moves elements that must not
 * be replaced into the new `main`.
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
  // A link that can be paid and does not have any payments has no state element.
  const stateElement = find(".state:not([hidden])") ?? find("h1");
  stateElement.tabIndex = -1;
  // The focus makes screen readers read the new state aloud.
  (focusedElement?.isConnected && focusedElement !== document.body
    ? focusedElement
    : stateElement
  ).focus({
    preventScroll: true,
  });
  return true;
};

/**
 * Refreshes the page when the state of its link differs from the rendered one. `dataset` contains
 * the server's data for the page, and `getLink` returns the current link. `canPay` says whether the
 * page's script pays. `isRefreshBlocked` returns whether the page must not be replaced at the
 * moment. The state is checked every few seconds. Returns a function that checks it immediately.
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
