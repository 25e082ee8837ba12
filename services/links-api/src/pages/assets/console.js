// The console in its plainest form: what the console API offers, as forms and lists. Everything
// that came from the API is put into the page as text, never as HTML.

const notice = document.querySelector("#notice");
const content = document.querySelector("#content");
const api = "/console/api";

class ApiError extends Error {
  constructor(status, entries) {
    super(entries.map((entry) => entry.message).join(" "));
    this.status = status;
    this.codes = entries.map((entry) => entry.code);
    this.methods = entries.flatMap((entry) => entry.methods ?? []);
  }
}

/** Makes a call, and makes it again once the person has proven to be there, if that was missing. */
const call = async (method, path, body) => {
  try {
    return await callOnce(method, path, body);
  } catch (error) {
    if (!(error instanceof ApiError && error.codes.includes("REAUTHENTICATION_REQUIRED"))) {
      throw error;
    }
    await askForPresence(error.methods);
    return callOnce(method, path, body);
  }
};

const callOnce = async (method, path, body) => {
  const answer = await fetch(api + path, {
    method,
    // Where a call leads away, only that it does is told.
    redirect: "manual",
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (answer.status === 204 || answer.type === "opaqueredirect") return undefined;
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
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
};

/** An error whose text is for a person. */
class Told extends Error {}

const textOf = (error) =>
  error instanceof ApiError || error instanceof Told
    ? error.message
    : "The server cannot be reached.";

/** Runs what a person asked for, and tells them if it fails. */
const attempt = (action) => async (event) => {
  event.preventDefault();
  try {
    await action(event);
  } catch (error) {
    say(textOf(error));
    if (isSignedOut(error)) await showSignIn().catch((fault) => say(textOf(fault)));
  }
};

const isSignedOut = (error) => error instanceof ApiError && error.codes.includes("UNAUTHENTICATED");

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
        say("You are signed out.");
        await showSignIn();
      }),
    ),
  );

const hexOf = (text) =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/** Has the browser's wallet sign the message that the server wrote for its address (EIP-1193). */
const signByWallet = async () => {
  const wallet = window.ethereum;
  if (wallet === undefined) throw new Told("There is no Ethereum wallet in this browser.");
  try {
    const [address] = await wallet.request({ method: "eth_requestAccounts" });
    const { message } = await call("GET", `/session/nonce?address=${encodeURIComponent(address)}`);
    const params = [hexOf(message), address];
    return { message, signature: await wallet.request({ method: "personal_sign", params }) };
  } catch (error) {
    throw error instanceof ApiError ? error : new Told("The wallet did not sign.");
  }
};

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

const textOfBytes = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** Has the browser ask for a passkey or make one; a person may well turn away from it. */
const askAuthenticator = async (ask) => {
  try {
    return await ask();
  } catch (error) {
    if (error.name === "InvalidStateError")
      throw new Told("This device has a passkey here already.");
    throw new Told("No passkey answered.");
  }
};

/** What a passkey answers to a challenge of the server. */
const signByPasskey = async () => {
  const asked = await call("GET", "/session/passkey");
  const publicKey = { ...asked, challenge: bytesOf(asked.challenge) };
  const { id, response } = await askAuthenticator(() => navigator.credentials.get({ publicKey }));
  const { authenticatorData, clientDataJSON, signature, userHandle } = response;
  return {
    id,
    response: {
      authenticatorData: textOfBytes(authenticatorData),
      clientDataJSON: textOfBytes(clientDataJSON),
      signature: textOfBytes(signature),
      userHandle: userHandle === null ? null : textOfBytes(userHandle),
    },
  };
};

/** Has an authenticator make a passkey, and lets it sign in. */
const addPasskey = async ({ name }) => {
  const asked = await call("GET", "/passkeys/creation");
  const publicKey = {
    ...asked,
    challenge: bytesOf(asked.challenge),
    user: { ...asked.user, id: bytesOf(asked.user.id) },
    excludeCredentials: asked.excludeCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
  };
  const { id, response } = await askAuthenticator(() =>
    navigator.credentials.create({ publicKey }),
  );
  const { attestationObject, clientDataJSON } = response;
  const made = {
    attestationObject: textOfBytes(attestationObject),
    clientDataJSON: textOfBytes(clientDataJSON),
  };
  await call("POST", "/passkeys", { name, passkey: { id, response: made } });
};

/** The token in a sign-in link, of which people paste the whole. */
const tokenOf = (link) =>
  new URLSearchParams(link.slice(link.indexOf("#") + 1)).get("token") ?? link.trim();

/** What other tabs of this browser hear of, and what it means to them. */
const openPresenceChannel = () => new BroadcastChannel("presence");

/** Asks the person to prove to be there; ends once they have, and throws if they would rather not. */
const askForPresence = (methods) =>
  new Promise((resolve, reject) => {
    const channel = openPresenceChannel();
    const end = (settle) => {
      channel.close();
      question.remove();
      settle();
    };
    // A proof at the identity provider ends in a tab of its own.
    channel.addEventListener("message", () => end(resolve));
    const prove = async (proof) => {
      await call("POST", "/session/presence", proof);
      end(resolve);
    };
    const question = section(
      "Is it still you?",
      make("p", {}, "Prove it once more, as this decides where money goes or who may act for you."),
      methods.includes("passkey") &&
        make(
          "p",
          {},
          button("Prove by a passkey", async () => prove({ passkey: await signByPasskey() })),
        ),
      methods.includes("siwe") &&
        make(
          "p",
          {},
          button("Prove by Ethereum", async () => prove({ siwe: await signByWallet() })),
        ),
      methods.includes("oidc") &&
        make(
          "p",
          {},
          make(
            "a",
            { href: `${api}/session/oidc?prove=true`, target: "_blank" },
            "Prove by your company's sign-in",
          ),
        ),
      methods.includes("link") &&
        make(
          "form",
          {
            onsubmit: attempt((event) =>
              prove({ token: tokenOf(new FormData(event.target).get("link")) }),
            ),
          },
          field("A new sign-in link", { name: "link", required: "", autocomplete: "off" }),
          make("button", { type: "submit" }, "Prove by the link"),
        ),
      button("Not now", () => end(() => reject(new Told("Nothing was changed.")))),
    );
    content.prepend(question);
    say("Is it still you?");
  });

const signInSection = (methods) =>
  section(
    "Sign in",
    methods.includes("oidc") &&
      make("p", {}, make("a", { href: `${api}/session/oidc` }, "Sign in with your company")),
    methods.includes("passkey") &&
      make(
        "p",
        {},
        button("Sign in with a passkey", async () => {
          await call("POST", "/session", { passkey: await signByPasskey() });
          await show();
        }),
      ),
    methods.includes("siwe") &&
      make(
        "p",
        {},
        button("Sign in with Ethereum", async () => {
          await call("POST", "/session", { siwe: await signByWallet() });
          await show();
        }),
      ),
    methods.includes("link") &&
      make("p", { class: "quiet" }, "Or ask your operator for a sign-in link."),
  );

const showIdentity = ({ id, method, issuer, subject }) => [
  method === "siwe" ? "Ethereum " : `${issuer} `,
  make("code", {}, subject),
  " ",
  button("Unlink", async () => {
    await call("DELETE", `/identities/${encodeURIComponent(id)}`);
    await show();
  }),
];

const identitySection = (identities, methods) =>
  section(
    "Ways to sign in",
    rows(identities, showIdentity),
    methods.includes("oidc") &&
      make(
        "p",
        {},
        button("Link your company account", async () => {
          const path = "/session/oidc?link=true";
          await call("GET", path);
          location.assign(api + path);
        }),
      ),
    methods.includes("siwe") &&
      make(
        "p",
        {},
        button("Link an Ethereum address", async () => {
          await call("POST", "/identities", { siwe: await signByWallet() });
          await show();
        }),
      ),
  );

const passkeySection = (passkeys) =>
  section(
    "Passkeys",
    rows(passkeys, ({ id, name, lastUsedAt }) => [
      make("strong", {}, name),
      lastUsedAt === null ? " " : ` last used ${new Date(lastUsedAt).toLocaleString()} `,
      button("Remove", async () => {
        await call("DELETE", `/passkeys/${encodeURIComponent(id)}`);
        await show();
      }),
      form(
        "Rename",
        [field("New name", { name: "name", required: "", maxlength: "100" })],
        (named) => call("PATCH", `/passkeys/${encodeURIComponent(id)}`, named),
      ),
    ]),
    form(
      "Add a passkey",
      [field("Name", { name: "name", required: "", maxlength: "100" })],
      addPasskey,
    ),
  );

const methodNames = {
  link: "Sign-in link",
  siwe: "Ethereum",
  oidc: "Company account",
  passkey: "Passkey",
};

const sessionSection = (sessions) =>
  section(
    "Where you are signed in",
    rows(sessions, ({ id, method, dateCreated, lastSeenAt, isCurrent }) => [
      `${methodNames[method] ?? method}, since ${new Date(dateCreated).toLocaleString()}`,
      isCurrent ? " (here)" : `, last seen ${new Date(lastSeenAt).toLocaleString()} `,
      isCurrent
        ? undefined
        : button("End", async () => {
            await call("DELETE", `/sessions/${encodeURIComponent(id)}`);
            await show();
          }),
    ]),
  );

/** Whether a wallet is the default, or becomes it later, and the button that changes it. */
const defaultOf = ({ id, isDefault, defaultAt }) => {
  const change = async (wish) => {
    await call("PATCH", `/wallets/${encodeURIComponent(id)}`, { isDefault: wish });
    await show();
  };
  if (isDefault) return [" (default)"];
  if (defaultAt === null) return [" ", button("Make default", () => change(true))];
  const from = new Date(defaultAt).toLocaleString();
  return [` (default from ${from} on) `, button("Cancel this change", () => change(false))];
};

const walletSection = (wallets, tokens) =>
  section(
    "Wallets",
    rows(wallets, (wallet) => [
      make("code", {}, wallet.walletAddress),
      ` ${wallet.token.token.symbol} on ${wallet.token.token.chain.name}`,
      ...defaultOf(wallet),
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

const lastUseOf = ({ lastUsedAt, lastUsedAddress }) => {
  if (lastUsedAt === null) return "never used";
  const from = lastUsedAddress === null ? "" : ` from ${lastUsedAddress}`;
  return `last used ${new Date(lastUsedAt).toLocaleString()}${from}`;
};

const limitOf = ({ requestsPerMinute, burst }) => {
  const rate = requestsPerMinute === null ? [] : [`${requestsPerMinute} requests a minute`];
  const atOnce = burst === null ? [] : [`${burst} at once`];
  const limits = [...rate, ...atOnce];
  return limits.length === 0 ? [] : [`at most ${limits.join(", ")}`];
};

const describeKey = (key) =>
  [
    `${key.scopes.join(", ")}${key.active ? "" : " (deactivated)"}`,
    lastUseOf(key),
    ...(key.cidrs === null ? [] : [`only from ${key.cidrs.join(", ")}`]),
    ...limitOf(key),
  ].join(" · ");

const limitFields = ({ requestsPerMinute, burst }) => [
  field("Requests a minute at most", limitInput("requestsPerMinute", requestsPerMinute)),
  field("At once at most", limitInput("burst", burst)),
];

const limitInput = (name, value) => ({ name, type: "number", min: "1", value: value ?? "" });

const noLimit = { requestsPerMinute: null, burst: null };

const createKey = async ({ name, cidrs, requestsPerMinute, burst }) => {
  const addresses = cidrs?.split(/[\s,]+/).filter((text) => text !== "");
  const made = await call("POST", "/api-keys", {
    name,
    scopes: ["payment_link:create", "payment_link:read"],
    ...(addresses === undefined ? {} : { cidrs: addresses }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute: Number(requestsPerMinute) }),
    ...(burst === undefined ? {} : { burst: Number(burst) }),
  });
  shownOnce.replaceChildren(
    make(
      "p",
      { class: "secret" },
      "Copy this key now; it is not shown again: ",
      make("code", {}, made.key),
    ),
  );
};

const keySection = (keys) =>
  section(
    "API keys",
    shownOnce,
    rows(keys, (key) => [
      make("strong", {}, key.name),
      " ",
      make("code", {}, `${key.prefix}…`),
      ` ${describeKey(key)} `,
      button("Revoke", async () => {
        await call("DELETE", `/api-keys/${encodeURIComponent(key.id)}`);
        await show();
      }),
      form("Change limit", limitFields(key), ({ requestsPerMinute, burst }) =>
        call("PATCH", `/api-keys/${encodeURIComponent(key.id)}`, {
          requestsPerMinute: requestsPerMinute === undefined ? null : Number(requestsPerMinute),
          burst: burst === undefined ? null : Number(burst),
        }),
      ),
    ]),
    form(
      "Create API key",
      [
        field("Name", { name: "name", required: "" }),
        field("Only from addresses or CIDRs", { name: "cidrs", autocomplete: "off" }),
        ...limitFields(noLimit),
      ],
      createKey,
    ),
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
  const [wallets, tokens, keys, identities, passkeys, sessions, { methods }] = await Promise.all([
    call("GET", "/wallets"),
    call("GET", "/tokens"),
    call("GET", "/api-keys"),
    call("GET", "/identities"),
    call("GET", "/passkeys"),
    call("GET", "/sessions"),
    call("GET", "/session/methods"),
  ]);
  const isReady = account.handle !== null && wallets.data.some((wallet) => wallet.isDefault);
  const links = isReady ? await call("GET", "/payment-links") : emptyPage;
  content.replaceChildren(
    linkSection(links, isReady),
    accountSection(account),
    walletSection(wallets.data, tokens.data),
    keySection(keys.data),
    identitySection(identities.data, methods),
    ...(methods.includes("passkey") ? [passkeySection(passkeys.data)] : []),
    sessionSection(sessions.data),
  );
  content.hidden = false;
  say(`Signed in as ${account.username}.`);
};

const showSignIn = async () => {
  const { methods } = await call("GET", "/session/methods");
  content.replaceChildren(signInSection(methods));
  content.hidden = false;
};

const findPresent = () =>
  call("GET", "/session").catch((error) => {
    if (isSignedOut(error)) return undefined;
    throw error;
  });

/** The token of a sign-in link leaves the address bar and the history first of all. */
const takeToken = () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(null, "", "/console");
  return token;
};

/** Says whom the link signs in, and whom it signs out, and waits for a click. */
const askBeforeSignIn = async (token) => {
  const { handle, username } = await call("POST", "/session/link", { token });
  const present = await findPresent();
  const name = handle === null ? username : `${username} (@${handle})`;
  const leaving =
    present !== undefined &&
    ` You are signed in as ${present.username}. Signing in as ${username} signs ${present.username} out.`;
  content.replaceChildren(
    section(
      "Sign in",
      make("p", {}, `This link signs you in as ${name}.`, leaving),
      button(`Sign in as ${username}`, async () => {
        await call("POST", "/session", { token });
        await show();
      }),
      present !== undefined && button(`Stay signed in as ${present.username}`, show),
    ),
  );
  content.hidden = false;
  say("Is this you?");
};

const errorTexts = {
  OIDC_SIGN_IN_REFUSED: "Your company's sign-in did not succeed. Please try again.",
  OIDC_ISSUER_UNAVAILABLE: "Your company's sign-in does not answer right now. Please try later.",
  ACCOUNT_SUSPENDED: "Your account is suspended. Ask your operator.",
  SIGN_UP_CLOSED: "You have no account here. Ask your operator for one.",
  REAUTHENTICATION_MISMATCH: "That company account does not sign in to the account you are in.",
  IDENTITY_TAKEN: "That company account signs in to another account here.",
  IDENTITY_LIMIT: "This account has as many ways to sign in as it may have.",
};

/** The error with which a sign-in came back to this page, shown once. */
const takeError = () => {
  const code = new URLSearchParams(location.search).get("error");
  if (code === null) return undefined;
  history.replaceState(null, "", "/console");
  return Object.hasOwn(errorTexts, code) ? errorTexts[code] : "Signing in did not succeed.";
};

/** Whether this tab comes back from a proof of presence, which another one waits for. */
const takePresence = () => {
  const isProven = new URLSearchParams(location.search).get("presence") === "proven";
  if (!isProven) return false;
  history.replaceState(null, "", "/console");
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel has none.
  openPresenceChannel().postMessage("proven");
  return true;
};

const failed = takeError();
const isProven = takePresence();
try {
  const token = takeToken();
  await (token === null ? show() : askBeforeSignIn(token));
  if (failed !== undefined) say(failed);
  if (isProven) say("Thank you. Go on in the other tab; you can close this one.");
} catch (error) {
  say(isSignedOut(error) ? (failed ?? "You are not signed in.") : textOf(error));
  if (error.status === 401) await showSignIn().catch((fault) => say(textOf(fault)));
}
