// How a page is followed by the server's newer ones: each is put in the place of the former, as the
// server alone says how a link looks.

const renewMs = 4_000;

const nothing = () => undefined;
const find = (selector) => document.querySelector(selector);
const fileOf = (element) => element.getAttribute("src") ?? element.getAttribute("href");
const listFiles = (page) => [...page.querySelectorAll("script, link")].map(fileOf);

/**
 * What a page shows of a link, in short; the server says the same of the page that it sends. Payments on
 * their way are in it where the script does not pay: where it does, it shows them.
 */
const stateOf = ({ status, receivedAmount, reason, pendingPayments }, isPaidHere) => {
  const seen = reason === null && isPaidHere ? [] : pendingPayments.map(({ id }) => id);
  return [status, receivedAmount, String(reason), ...seen].join(" ");
};

/**
 * Puts a newer page in the place of this one; false if it has to be loaded with its own script, as it is
 * another version's or does more than ours can. `scripts` are those whose pages ours can show, too, and
 * `keep` takes over from the new page what has to stay.
 */
const showInstead = (fresh, { scripts, keep }) => {
  const ours = new Set([...listFiles(document), ...scripts.split(" ")]);
  if (!listFiles(fresh).every((file) => ours.has(file))) return false;
  const focused = document.activeElement;
  const [former, main] = [find("main"), fresh.querySelector("main")];
  keep(main);
  for (const details of main.querySelectorAll("details")) {
    details.open = former.querySelector(`#${details.id}`)?.open ?? false;
  }
  former.replaceWith(main);
  document.title = fresh.title;
  const state = find(".state");
  state.tabIndex = -1;
  // So that it is read out.
  (focused?.isConnected && focused !== document.body ? focused : state).focus({
    preventScroll: true,
  });
  return true;
};

/**
 * Renews the page once its link is no longer as the page says. `dataset` is what the server says of the
 * page, `link` answers how the link stands, `isPaidHere` whether the script pays, and `isHeld` whether nothing may be replaced now. Answers how
 * to have a look at once; it has one every few seconds.
 */
export const keepNew = ({
  dataset,
  link,
  isPaidHere = false,
  isHeld = () => false,
  keep = nothing,
  renewed = nothing,
}) => {
  let { state: shown } = dataset;
  let isRenewing = false;

  const renew = async () => {
    const known = link();
    if (isRenewing || isHeld() || known === undefined || stateOf(known, isPaidHere) === shown)
      return;
    isRenewing = true;
    try {
      const answer = await fetch(location.href);
      if (!answer.ok) throw new Error(`the page is ${answer.status}`);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!isHeld()) {
        if (!showInstead(fresh, { scripts: dataset.scripts, keep })) return location.reload();
        shown = stateOf(known, isPaidHere);
        renewed();
      }
    } catch {
      // It is tried again with the next look.
    }
    isRenewing = false;
  };

  setInterval(() => {
    if (!document.hidden) void renew();
  }, renewMs);
  return renew;
};
