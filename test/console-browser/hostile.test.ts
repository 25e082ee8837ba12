import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findOverhang } from "../rig/open-console.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { type ConsolePerson as Person, useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

type Made = { links: string[]; endpoints: string[] };

/** What people type who mean no good, or cannot stop. */
const hostile = {
  script: `<script>alert(1)</script><img src=x onerror=alert(1)>"'&amp;{{7*7}}`,
  turned: "\u202egnp.exe \u2066\u200f evil",
  emoji: "🙂".repeat(500),
  invisible: "a\u200b\u200d\ufeff\u2060b".repeat(60),
  word: "w".repeat(10_000),
};
const plain = Object.fromEntries(Object.keys(hostile).map((name) => [name, `A ${name}`]));

/** As much of a text as a field takes. */
const cut = (text: string, charsMax: number): string => [...text].slice(0, charsMax).join("");

const send = async ({ context }: Person, method: "post" | "patch", path: string, data: object) => {
  const answer = await context.request[method](`${system.origin}/console/api/${path}`, { data });
  if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`);
  return (await answer.json()) as { id: string };
};

/** Fills all that a person can fill, each thing with one of the texts. */
const fill = async (person: Person, texts: Readonly<Record<string, string>>): Promise<Made> => {
  await send(person, "post", "wallets", {
    walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
    tokenId: "usdc-base",
    isDefault: true,
  });
  const made: Made = { links: [], endpoints: [] };
  for (const text of Object.values(texts)) {
    const name = cut(text, 100);
    const link = { toAmount: "12345678901234567890.123456", description: cut(text, 500) };
    made.links.push((await send(person, "post", "payment-links", link)).id);
    const scopes = ["payment_link:create", "payment_link:read"];
    await send(person, "post", "api-keys", { name, scopes });
    const url = `https://shop.com/${encodeURIComponent(name)}`;
    made.endpoints.push((await send(person, "post", "webhook-endpoints", { url, name })).id);
  }
  const { word = "", emoji = "" } = texts;
  const links = [`https://shop.com/${cut(word, 2_000)}`, `https://shop.com/?${cut(emoji, 100)}`];
  await send(person, "patch", "account", { links, profileImage: links[0] });
  return made;
};

/** Everything where a text of a person's may stand. */
const viewsOf = ({ links, endpoints }: Made): string[] => [
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

/** Where the frame's own parts stand, and what sticks out of its card or breaks within a word. */
const readLayout = `(() => {
  const place = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [element.tagName, x, y, width, height].map((one) => Number(one) ? Math.round(one) : one);
  };
  const parts = document.querySelectorAll("header nav a, header button, main, main h1");
  const frame = [...parts].map(place);
  // How high the view is, and where its heading stands in it, is its own matter.
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

const look = async ({ goTo, tab }: Person, path: string): Promise<Layout> => {
  await goTo(path);
  await tab.page.locator("main h1").waitFor();
  await waitUntil(`all of ${path}`, async () => !(await tab.text()).includes("Loading…"));
  return tab.page.evaluate<Layout>(readLayout);
};

describe("hostile text in every field that people fill", () => {
  test("stands as text in every view, turns nothing round, and moves nothing of the page", async () => {
    const bad = await system.signUp("bad");
    const good = await system.signUp("good");
    const made = { bad: await fill(bad, hostile), good: await fill(good, plain) };
    const asked: string[] = [];
    bad.tab.page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    const names = Object.values(hostile).map((text) => cut(text, 100));
    for (const width of [320, 1280]) {
      for (const person of [bad, good])
        await person.tab.page.setViewportSize({ width, height: 800 });
      const views = { bad: viewsOf(made.bad), good: viewsOf(made.good) };
      for (const [index, path] of views.bad.entries()) {
        const username = names[index % names.length] ?? "";
        await send(bad, "patch", "account", { username, bio: cut(hostile.emoji, 500) });
        const seen = await look(bad, path);
        expect([width, path, await findOverhang(bad.tab), seen.sticking]).toEqual([
          width,
          path,
          0,
          [],
        ]);
        const { own } = await look(good, views.good[index] ?? "");
        expect([width, path, seen.own]).toEqual([width, path, own]);
      }
    }
    expect(asked).toEqual([]);
    expect(bad.faults).toEqual([]);
  });

  test("stands as text in what asks before something is done", async () => {
    const bad = await system.signUp("worse", { viewport: { width: 320, height: 640 } });
    const { endpoints } = await fill(bad, hostile);
    const { goTo, tab } = bad;
    await goTo("/keys");
    for (const text of Object.values(hostile)) {
      const name = cut(text, 100);
      for (const what of ["Change the limits", "Rotate", "Revoke"]) {
        await tab.page.getByRole("button", { name: `${what}: ${name}`, exact: true }).click();
        const dialog = tab.page.getByRole("dialog");
        expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
        expect(await findOverhang(tab)).toBe(0);
        await dialog.getByRole("button", { name: "Cancel" }).click();
        await dialog.waitFor({ state: "detached" });
      }
    }
    for (const [index, id] of endpoints.entries()) {
      const name = cut(Object.values(hostile)[index] ?? "", 100);
      await goTo(`/webhooks/${id}`);
      await tab.click("Delete");
      const dialog = tab.page.getByRole("dialog");
      expect(await dialog.locator("h2 bdi").textContent()).toBe(name);
      expect(await tab.page.title()).toBe(`\u2068${name}\u2069 · Payment Links`);
      expect(await findOverhang(tab)).toBe(0);
    }
    expect(bad.faults).toEqual([]);
  });
});
