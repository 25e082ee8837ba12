// The console in its plainest form: what the console API offers, as forms and lists. Everything that
// came from the API is put into the page as text, never as HTML.

const notice = document.querySelector("#notice");
const content = document.querySelector("#content");
const api = "/console/api";

class ApiError extends Error {
  constructor(status, entries) {
    super(entries.map((entry) => entry.message).join(" "));
    this.status = status;
    this.codes = entries.map((entry) => entry.code);
  }
}

const call = async (method, path, body) => {
  const answer = await fetch(api + path, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (answer.status === 204) return undefined;
  const read = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new ApiError(answer.status, read.errors ?? [{ message: "The call failed.", code: "" }]);
  }
  return read;
};

const say = (text) => {
  notice.textContent = text;
};

/** Makes an element; attributes by name, `onclick` and the like as handlers, children as text. */
const make = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
};

/** Runs what a person asked for, and tells them where it fails. */
const attempt = (action) => async (event) => {
  event.preventDefault();
  try {
    await action(event);
  } catch (error) {
    say(error instanceof ApiError ? error.message : "The server cannot be reached.");
    if (error.status === 401) content.hidden = true;
  }
};

const field = (label, attributes, control = make("input", attributes)) =>
  make("label", {}, label, control);

const form = (submitText, fields, onSubmit) =>
  make(
    "form",
    {
      onsubmit: attempt(async (event) => {
        const entries = new FormData(event.target).entries();
        await onSubmit(Object.fromEntries([...entries].filter(([, value]) => value !== "")));
        await show();
      }),
    },
    ...fields,
    make("button", { type: "submit" }, submitText),
  );

const section = (title, ...children) => make("section", {}, make("h2", {}, title), ...children);

const rows = (items, showItem) =>
  items.length === 0
    ? make("p", { class: "quiet" }, "None yet.")
    : make("ul", { class: "rows" }, ...items.map((item) => make("li", {}, ...showItem(item))));

const button = (text, action) => make("button", { type: "button", onclick: attempt(action) }, text);

const accountSection = (account) =>
  section(
    "Account",
    make("p", {}, account.username, account.handle === null ? "" : ` · @${account.handle}`),
    form(
      account.handle === null ? "Set handle" : "Change handle",
      [field("Handle", { name: "handle", required: "", maxlength: "30", autocomplete: "off" })],
      ({ handle }) => call("PATCH", "/account", { handle }),
    ),
    make(
      "p",
      {},
      button("Sign out", async () => {
        await call("DELETE", "/session");
        content.hidden = true;
        say("You are signed out.");
      }),
    ),
  );

const walletSection = (wallets, tokens) =>
  section(
    "Wallets",
    rows(wallets, (wallet) => [
      make("code", {}, wallet.walletAddress),
      ` ${wallet.token.token.symbol} on ${wallet.token.token.chain.name}`,
      wallet.isDefault ? " (default)" : "",
    ]),
    form(
      "Add as default wallet",
      [
        field("Address", { name: "walletAddress", required: "", autocomplete: "off" }),
        field(
          "Token",
          {},
          make(
            "select",
            { name: "tokenId" },
            ...tokens.map(({ id, token }) =>
              make("option", { value: id }, `${token.symbol} on ${token.chain.name}`),
            ),
          ),
        ),
      ],
      (wallet) => call("POST", "/wallets", { ...wallet, isDefault: true }),
    ),
  );

const shownOnce = make("div", { "aria-live": "polite" });

const keySection = (keys) =>
  section(
    "API keys",
    shownOnce,
    rows(keys, (key) => [
      make("strong", {}, key.name),
      " ",
      make("code", {}, `${key.prefix}…`),
      ` ${key.scopes.join(", ")}${key.active ? "" : " (deactivated)"} `,
      button("Revoke", async () => {
        await call("DELETE", `/api-keys/${encodeURIComponent(key.id)}`);
        await show();
      }),
    ]),
    form("Create API key", [field("Name", { name: "name", required: "" })], async ({ name }) => {
      const scopes = ["payment_link:create", "payment_link:read"];
      const made = await call("POST", "/api-keys", { name, scopes });
      shownOnce.replaceChildren(
        make(
          "p",
          { class: "secret" },
          "Copy this key now; it is not shown again: ",
          make("code", {}, made.key),
        ),
      );
    }),
  );

const showLink = (link) => [
  make("a", { href: link.url }, `${link.toAmount} ${link.token.symbol}`),
  " ",
  make("span", { class: `badge ${link.status}` }, link.status),
  ` received ${link.receivedAmount}${link.description === null ? "" : ` · ${link.description}`} `,
  link.status === "active"
    ? button("Deactivate", async () => {
        await call("POST", `/payment-links/${encodeURIComponent(link.id)}/deactivate`);
        await show();
      })
    : undefined,
];

const linkSection = (page, isReady) => {
  if (!isReady) {
    return section(
      "Payment links",
      make("p", { class: "quiet" }, "Set a handle and add a default wallet first."),
    );
  }
  const list = make("div", {}, rows(page.data, showLink));
  const more = (offset) =>
    button("Older links", async (event) => {
      const next = await call("GET", `/payment-links?offset=${offset}`);
      event.target.remove();
      list.append(rows(next.data, showLink), ...moreOf(next));
    });
  const moreOf = ({ nextOffset }) => (nextOffset === null ? [] : [more(nextOffset)]);
  list.append(...moreOf(page));
  return section(
    "Payment links",
    list,
    form(
      "Create payment link",
      [
        field("Amount", {
          name: "toAmount",
          required: "",
          inputmode: "decimal",
          autocomplete: "off",
        }),
        field("Description (what the payer sees)", { name: "description", maxlength: "500" }),
        field("Most payments (empty: no limit)", { name: "maxUsage", type: "number", min: "1" }),
      ],
      ({ maxUsage, ...order }) =>
        call("POST", "/payment-links", {
          ...order,
          ...(maxUsage === undefined ? {} : { maxUsage: Number(maxUsage) }),
        }),
    ),
  );
};

const emptyPage = { data: [], nextOffset: null };

const show = async () => {
  const account = await call("GET", "/session");
  const [wallets, tokens, keys] = await Promise.all([
    call("GET", "/wallets"),
    call("GET", "/tokens"),
    call("GET", "/api-keys"),
  ]);
  const isReady = account.handle !== null && wallets.data.some((wallet) => wallet.isDefault);
  const links = isReady ? await call("GET", "/payment-links") : emptyPage;
  content.replaceChildren(
    linkSection(links, isReady),
    accountSection(account),
    walletSection(wallets.data, tokens.data),
    keySection(keys.data),
  );
  content.hidden = false;
  say(`Signed in as ${account.username}.`);
};

const signIn = async () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  // The token leaves the address bar and the history before anything else happens.
  history.replaceState(null, "", "/console");
  await call("POST", "/session", { token });
};

try {
  await signIn();
  await show();
} catch (error) {
  if (error.status !== 401)
    say(error instanceof ApiError ? error.message : "The server cannot be reached.");
  else if (error.codes.includes("INVALID_SIGN_IN_TOKEN")) say(error.message);
  else say("You are not signed in. Ask your operator for a sign-in link.");
}
