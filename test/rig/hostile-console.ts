import { waitUntil } from "@payment-links/runtime/testing";
import type { Console, ConsoleUser } from "./use-console.ts";

type CreatedItems = { links: string[]; endpoints: string[] };

/** Hostile and oversized texts that a user can enter. */
export const hostileTexts = {
  script: `<script>alert(1)</script><img src=x onerror=alert(1)>"'&amp;{{7*7}}`,
  turned: "\u202egnp.exe \u2066\u200f evil",
  emoji: "🙂".repeat(500),
  invisible: "a\u200b\u200d\ufeff\u2060b".repeat(60),
  word: "w".repeat(10_000),
};
export const plainTexts = Object.fromEntries(
  Object.keys(hostileTexts).map((name) => [name, `A ${name}`]),
);

/** Truncates a text to the length that a field accepts. */
export const truncate = (text: string, charsMax: number): string =>
  [...text].slice(0, charsMax).join("");

export const sendRequest = async (
  system: Console,
  { context }: ConsoleUser,
  method: "post" | "patch",
  path: string,
  data: object,
) => {
  const response = await context.request[method](`${system.origin}/console/api/${path}`, { data });
  if (!response.ok()) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as { id: string };
};

/**
 * Fills every field that accepts a user's text. Creates a link, an API key and an endpoint for each
 * text.
 */
export const fillAllFields = async (
  system: Console,
  user: ConsoleUser,
  texts: Readonly<Record<string, string>>,
): Promise<CreatedItems> => {
  await sendRequest(system, user, "post", "wallets", {
    walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
    tokenId: "usdc-base",
    isDefault: true,
  });
  const created: CreatedItems = { links: [], endpoints: [] };
  for (const text of Object.values(texts)) {
    const name = truncate(text, 100);
    const link = { toAmount: "12345678901234567890.123456", description: truncate(text, 500) };
    created.links.push((await sendRequest(system, user, "post", "payment-links", link)).id);
    const scopes = ["payment_link:create", "payment_link:read"];
    await sendRequest(system, user, "post", "api-keys", { name, scopes });
    const url = `https://shop.com/${encodeURIComponent(name)}`;
    created.endpoints.push(
      (await sendRequest(system, user, "post", "webhook-endpoints", { url, name })).id,
    );
  }
  const { word = "", emoji = "" } = texts;
  const links = [
    `https://shop.com/${truncate(word, 2_000)}`,
    `https://shop.com/?${truncate(emoji, 100)}`,
  ];
  await sendRequest(system, user, "patch", "account", { links, profileImage: links[0] });
  return created;
};

/** Returns every view that can show a user's text. */
export const listViews = ({ links, endpoints }: CreatedItems): string[] => [
  "",
  "/links",
  "/links?q=%3Cscript%3E",
  ...links.map((id) => `/links/${id}`),
  "/keys",
  "/webhooks",
  ...endpoints.map((id) => `/webhooks/${id}`),
  "/account/profile",
  "/account/wallets",
  "/account/sign-in",
  "/account/sessions",
  "/account/log?action=%E2%80%AEevil",
];

/**
 * Returns the boxes of the frame's own elements, and elements that overflow their card or break
 * within a word.
 */
const readLayoutScript = `(() => {
  const place = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [element.tagName, x, y, width, height].map((one) => Number(one) ? Math.round(one) : one);
  };
  const parts = document.querySelectorAll("header nav a, header button, main, main h1");
  const frame = [...parts].map(place);
  // The height of the view and the position of its heading are not compared.
  const sizes = { MAIN: 4, H1: 2 };
  const own = frame.map((part) => part.slice(0, sizes[part[0]]));
  const sticking = [...document.querySelectorAll("section")].flatMap((card) => {
    const right = card.getBoundingClientRect().right;
    return [...card.querySelectorAll("td, dd, li, p, code, bdi")]
      .filter((part) => part.getBoundingClientRect().right > right + 1)
      .map((part) => part.outerHTML.slice(0, 80));
  });
  const broken = [...document.querySelectorAll("th")].filter((title) => {
    const range = document.createRange();
    range.selectNodeContents(title);
    const lines = new Set([...range.getClientRects()].map(({ top }) => top));
    return lines.size > title.textContent.split(" ").length;
  });
  return { own, sticking: [...sticking, ...broken.map((title) => "broken: " + title.textContent)] };
})()`;

type Layout = { own: unknown[]; sticking: string[] };

/** Opens a view. Returns its layout when it has loaded completely. */
export const openView = async ({ goTo, tab }: ConsoleUser, path: string): Promise<Layout> => {
  await goTo(path);
  await tab.page.locator("main h1").waitFor();
  await waitUntil(`${path} is loaded`, async () => !(await tab.readText()).includes("Loading…"));
  return tab.page.evaluate<Layout>(readLayoutScript);
};
