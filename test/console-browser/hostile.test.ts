import { waitUntil } from "@payment-links/runtime/testing";
import { type ConsoleUser, useConsole } from "../rig/use-console.ts";
import { expect } from "@jest/globals";
import { measureOverflow } from "../rig/find-axe-violations.ts";
import { requireChromium, sampleCases } from "../rig/require-chromium.ts";

const { describe, test } = requireChromium();

const system = useConsole();

type CreatedItems = { links: string[]; endpoints: string[] };

/** Hostile and oversized texts that a user can enter. */
const hostileTexts = {
  script: `<script>alert(1)</script><img src=x onerror=alert(1)>"'&amp;{{7*7}}`,
  turned: "\u202egnp.exe \u2066\u200f evil",
  emoji: "🙂".repeat(500),
  invisible: "a\u200b\u200d\ufeff\u2060b".repeat(60),
  word: "w".repeat(10_000),
};
const sampledTexts: Record<string, string> = Object.fromEntries(
  sampleCases(Object.entries(hostileTexts), ([name]) => ["script", "turned"].includes(name)),
);
const plainTexts = Object.fromEntries(Object.keys(sampledTexts).map((name) => [name, `A ${name}`]));
const widths = sampleCases([320, 1280], (width) => width === 320);

/** Truncates a text to the length that a field accepts. */
const truncate = (text: string, charsMax: number): string => [...text].slice(0, charsMax).join("");

/**
 * Fills every field that accepts a user's text. Creates a link, an API key and an endpoint for each
 * text.
 */
const fillAllFields = async (
  { addDefaultWallet, call }: ConsoleUser,
  texts: Readonly<Record<string, string>>,
): Promise<CreatedItems> => {
  await addDefaultWallet();
  const created: CreatedItems = { links: [], endpoints: [] };
  for (const text of Object.values(texts)) {
    const name = truncate(text, 100);
    const link = { toAmount: "12345678901234567890.123456", description: truncate(text, 500) };
    created.links.push((await call("post", "payment-links", link)).id);
    const scopes = ["payment_link:create", "payment_link:read"];
    await call("post", "api-keys", { name, scopes });
    const url = `https://shop.com/${encodeURIComponent(name)}`;
    created.endpoints.push((await call("post", "webhook-endpoints", { url, name })).id);
  }
  const { word = "", emoji = "" } = texts;
  const links = [
    `https://shop.com/${truncate(word, 2_000)}`,
    `https://shop.com/?${truncate(emoji, 100)}`,
  ];
  await call("patch", "account", { links, profileImage: links[0] });
  return created;
};

/** Returns every view that can show a user's text. */
const listViews = ({ links, endpoints }: CreatedItems): string[] => [
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
  "/account/notifications",
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
  const parts = document.querySelectorAll("header a:not([role]), header > button, header + nav a, " +
    "main, main h1");
  // The account's button is at the end of the bar, so the width of its name moves nothing else.
  const frame = [...parts].map((part) => {
    const [name, x, y, width, height] = place(part);
    return part.ariaHasPopup === "menu" ? [name, y, height] : [name, x, y, width, height];
  });
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
    // A title that is only for screen readers has an element of its own.
    const label = title.childNodes.length === 1 && title.firstElementChild || title;
    range.selectNodeContents(label);
    const lines = new Set([...range.getClientRects()].map(({ top }) => top));
    return lines.size > label.textContent.split(" ").length;
  });
  return { own, sticking: [...sticking, ...broken.map((title) => "broken: " + title.textContent)] };
})()`;

type Layout = { own: unknown[]; sticking: string[] };

/** Opens a view. Returns its layout when it has loaded completely. */
const openView = async ({ goTo, tab }: ConsoleUser, path: string): Promise<Layout> => {
  await goTo(path);
  await tab.page.locator("main h1").waitFor();
  await waitUntil(`${path} is loaded`, async () => !(await tab.readText()).includes("Loading…"));
  return tab.page.evaluate<Layout>(readLayoutScript);
};

describe("hostile text in every user-supplied field", () => {
  test("is shown as text in every view, without reversing other text or changing the layout", async () => {
    const hostileUser = await system.signUp("bad");
    const plainUser = await system.signUp("good");
    const created = {
      bad: await fillAllFields(hostileUser, sampledTexts),
      good: await fillAllFields(plainUser, plainTexts),
    };
    const dialogMessages: string[] = [];
    hostileUser.tab.page.on("dialog", (dialog) => {
      dialogMessages.push(dialog.message());
      void dialog.dismiss();
    });
    const truncatedNames = Object.values(sampledTexts).map((text) => truncate(text, 100));
    for (const width of widths) {
      for (const user of [hostileUser, plainUser])
        await user.tab.page.setViewportSize({ width, height: 800 });
      const views = { bad: listViews(created.bad), good: listViews(created.good) };
      for (const [index, path] of views.bad.entries()) {
        const username = truncatedNames[index % truncatedNames.length] ?? "";
        await hostileUser.call("patch", "account", {
          username,
          bio: truncate(hostileTexts.emoji, 500),
        });
        const hostileLayout = await openView(hostileUser, path);
        expect([
          width,
          path,
          await measureOverflow(hostileUser.tab.page),
          hostileLayout.sticking,
        ]).toEqual([width, path, 0, []]);
        const { own } = await openView(plainUser, views.good[index] ?? "");
        expect([width, path, hostileLayout.own]).toEqual([width, path, own]);
      }
    }
    expect(dialogMessages).toEqual([]);
  });

  test("is shown as text in confirmation dialogs", async () => {
    const hostileUser = await system.signUp("worse", { viewport: { width: 320, height: 640 } });
    const { endpoints } = await fillAllFields(hostileUser, sampledTexts);
    const { goTo, tab } = hostileUser;
    await goTo("/keys");
    for (const text of Object.values(sampledTexts)) {
      const name = truncate(text, 100);
      for (const action of ["Edit limits", "Rotate", "Revoke"]) {
        await tab.chooseInMenu(`Actions: ${name}`, action);
        const dialog = tab.page.getByRole("dialog");
        expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
        expect(await measureOverflow(tab.page)).toBe(0);
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await dialog.waitFor({ state: "detached" });
      }
    }
    for (const [index, id] of endpoints.entries()) {
      const name = truncate(Object.values(sampledTexts)[index] ?? "", 100);
      await goTo(`/webhooks/${id}`);
      await tab.chooseInMenu(`Actions: ${name}`, "Delete");
      const dialog = tab.page.getByRole("dialog");
      expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
      expect(await tab.page.title()).toBe(`\u2068${name}\u2069 · Payment Links`);
      expect(await measureOverflow(tab.page)).toBe(0);
    }
  });
});
