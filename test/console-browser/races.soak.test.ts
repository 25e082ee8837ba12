import { afterAll, beforeAll, expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import type { Locator, Route } from "playwright-core";
import { openConsole } from "../rig/open-console.ts";
import type { Tab } from "../rig/chromium.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { type Random, createRandom } from "../simulation/random.ts";

const { describe, test } = needingChromium();

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const races = Number(process.env["RACES"] ?? 50);
const movesMax = 4;
/** A person's two clicks are this far apart at most. */
const clickMsMax = 250;
const moveMsMax = 150;
/** What goes away while it is looked for is waited for no longer. */
const lookMsMax = 1_000;
const endpointsMax = 5;

type Mood = "prompt" | "slow" | "lost before" | "lost after";
type Thing = { id: string; name: string; what: string };

let system: Awaited<ReturnType<typeof openConsole>>;
let person: Awaited<ReturnType<typeof system.signUp>>;
let tabs: Tab[];
/** How each change that comes next fares on its way. */
let moods: Mood[] = [];
let underWay = 0;

beforeAll(async () => {
  system = await openConsole();
  person = await system.signUp("racer");
  tabs = [person.tab, await person.openTab()];
  await post("wallets", {
    walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
    tokenId: "usdc-base",
    isDefault: true,
  });
  await person.context.route("**/console/api/**", carry);
});
afterAll(() => system?.close());

const carry = async (route: Route): Promise<void> => {
  if (route.request().method() === "GET") return route.continue();
  const mood = moods.shift() ?? "prompt";
  if (mood === "lost before") return route.abort();
  underWay += 1;
  try {
    if (mood === "slow") await injectDelay("slow peer", clickMsMax);
    const response = await route.fetch();
    await (mood === "lost after" ? route.abort() : route.fulfill({ response }));
  } catch {
    // The page that asked is gone by now.
  } finally {
    underWay -= 1;
  }
};

const path = (rest: string) => `${system.origin}/console/api/${rest}`;
const post = async (rest: string, data: object): Promise<{ id: string }> => {
  const answer = await person.context.request.post(path(rest), { data });
  if (!answer.ok()) throw new Error(`${rest}: ${await answer.text()}`);
  return answer.json() as Promise<{ id: string }>;
};
const read = async (rest: string): Promise<Record<string, string>[]> => {
  const answer = await person.context.request.get(path(rest));
  return ((await answer.json()) as { data: Record<string, string>[] }).data;
};

/** All that the account has, and how each thing stands. */
const readThings = async (): Promise<Thing[]> => {
  const things: Thing[] = [];
  for (const { id = "", name = "", active, replacedBy } of await read("api-keys")) {
    things.push({ id, name, what: `key ${active} ${replacedBy === null ? "own" : "replaced"}` });
  }
  for (const { id = "", name = "", enabled } of await read("webhook-endpoints")) {
    things.push({ id, name, what: `endpoint ${enabled}` });
  }
  for (let before = ""; ;) {
    const page = await person.context.request.get(path(`payment-links${before}`));
    const { data, nextBefore } = (await page.json()) as {
      data: Record<string, string>[];
      nextBefore: string | null;
    };
    for (const { id = "", description = "", status } of data) {
      things.push({ id, name: description, what: `link ${status}` });
    }
    if (nextBefore === null) return things;
    before = `?before=${nextBefore}`;
  }
};

/** Waits until no page and no service is at it any more, as whoever looks what came of it does. */
const quiet = () =>
  waitUntil("nothing is under way", async () => {
    const shown = await Promise.all(tabs.map(({ text }) => text()));
    return underWay === 0 && shown.every((text) => !text.includes("Working…"));
  });

/** Two clicks on one place, as a hand makes them: whatever stands there by the second one gets it. */
const clickTwice = async (tab: Tab, button: Locator, random: Random): Promise<void> => {
  const gapMs = random.below(clickMsMax);
  if ((await button.count()) === 0) return;
  // A button that comes later is clicked by the next move.
  /* oxlint-disable reliability/no-short-limit */
  await button.scrollIntoViewIfNeeded({ timeout: lookMsMax }).catch(() => undefined);
  const box = await button.boundingBox({ timeout: lookMsMax }).catch(() => null);
  /* oxlint-enable reliability/no-short-limit */
  if (box === null) return;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await tab.page.mouse.click(x, y);
  await injectDelay("human pause", gapMs);
  await tab.page.mouse.click(x, y, { clickCount: 2 });
};

const button = (tab: Tab, name: string): Locator =>
  tab.page.getByRole("button", { name, exact: true }).first();

const goTo = async (tab: Tab, to: string): Promise<void> => {
  await tab.goTo(`${system.origin}/console${to}`);
  await tab.see("Signed in as racer");
};

/** What a person wants: where they go for it, what they click, and when it is as they want it. */
type Wish = {
  open: (tab: Tab) => Promise<void>;
  button: (tab: Tab) => Locator;
  /** What the account has when the wish is fulfilled, once. */
  expected: (before: readonly Thing[], after: readonly Thing[]) => Thing[];
  isDone: (things: readonly Thing[]) => boolean;
};

const byName = (name: string) => (things: readonly Thing[]) =>
  things.filter((one) => one.name === name);

const creation = (name: string, what: string, form: Pick<Wish, "open" | "button">): Wish => ({
  ...form,
  isDone: (things) => byName(name)(things).length > 0,
  expected: (before, after) => {
    const [made] = byName(name)(after);
    return [...before, { id: made?.id ?? "", name, what }];
  },
});

const wishes: Record<string, (name: string, random: Random) => Promise<Wish>> = {
  "make a link": async (name) =>
    creation(name, "link active", {
      open: async (tab) => {
        await goTo(tab, "/links/new");
        await tab.page.getByLabel("Amount").fill("25");
        await tab.page.getByLabel("Description").fill(name);
        await tab.page.getByLabel("Expiry").selectOption("3");
      },
      button: (tab) => button(tab, "Create the link"),
    }),
  "make a key": async (name) =>
    creation(name, "key true own", {
      open: async (tab) => {
        await goTo(tab, "/keys");
        await tab.type("Create API key", name);
      },
      button: (tab) => button(tab, "Create API key"),
    }),
  "make an endpoint": async (name) => {
    for (const { id = "" } of (await read("webhook-endpoints")).slice(0, -(endpointsMax - 1))) {
      await person.context.request.delete(path(`webhook-endpoints/${id}`));
    }
    return creation(name, "endpoint true", {
      open: async (tab) => {
        await goTo(tab, "/webhooks");
        await tab.page.getByLabel("Name").fill(name);
        await tab.page.getByLabel("Address").fill("https://shop.com/hook");
      },
      button: (tab) => button(tab, "Create endpoint"),
    });
  },
  "rotate a key": async (name) => {
    const { id } = await post("api-keys", { name, scopes: ["payment_link:read"] });
    return {
      open: async (tab) => {
        await goTo(tab, "/keys");
        await button(tab, `Rotate: ${name}`).click();
      },
      button: (tab) => button(tab, "Rotate"),
      isDone: (things) => things.some((one) => one.id === id && one.what.endsWith("replaced")),
      expected: (before, after) => {
        const made = byName(name)(after).find((one) => one.id !== id);
        return [
          ...before.filter((one) => one.id !== id),
          { id, name, what: "key true replaced" },
          { id: made?.id ?? "", name, what: "key true own" },
        ];
      },
    };
  },
  "switch a key off": async (name) => {
    const { id } = await post("api-keys", { name, scopes: ["payment_link:read"] });
    return {
      open: async (tab) => {
        await goTo(tab, "/keys");
        await tab.see(name);
      },
      button: (tab) => button(tab, `Deactivate: ${name}`),
      isDone: (things) => things.some((one) => one.id === id && one.what === "key false own"),
      expected: (before) =>
        before.map((one) => (one.id === id ? { id, name, what: "key false own" } : one)),
    };
  },
  "revoke a key": async (name) => {
    const { id } = await post("api-keys", { name, scopes: ["payment_link:read"] });
    return removal(id, {
      open: async (tab) => {
        await goTo(tab, "/keys");
        await button(tab, `Revoke: ${name}`).click();
      },
      button: (tab) => button(tab, "Revoke"),
    });
  },
  "deactivate a link": async (name) => {
    const { id } = await post("payment-links", { toAmount: "5", description: name });
    return {
      open: async (tab) => {
        await goTo(tab, `/links/${id}`);
        await button(tab, "Deactivate").click();
      },
      button: (tab) => tab.page.getByRole("dialog").getByRole("button", { name: "Deactivate" }),
      isDone: (things) => things.some((one) => one.id === id && one.what === "link inactive"),
      expected: (before) =>
        before.map((one) => (one.id === id ? { id, name, what: "link inactive" } : one)),
    };
  },
  "delete an endpoint": async () => {
    if ((await read("webhook-endpoints")).length < 2) {
      await post("webhook-endpoints", { url: "https://shop.com/hook", name: "for good" });
      await post("webhook-endpoints", { url: "https://shop.com/hook", name: "for now" });
    }
    const [{ id = "" } = {}] = await read("webhook-endpoints");
    return removal(id, {
      open: async (tab) => {
        await goTo(tab, `/webhooks/${id}`);
        await button(tab, "Delete").click();
      },
      button: (tab) => tab.page.getByRole("dialog").getByRole("button", { name: "Delete" }),
    });
  },
};

const removal = (id: string, dialog: Pick<Wish, "open" | "button">): Wish => ({
  ...dialog,
  isDone: (things) => things.every((one) => one.id !== id),
  expected: (before) => before.filter((one) => one.id !== id),
});

const sorted = (things: readonly Thing[]) => things.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Somebody who is not sure looks, and begins again only where it has not happened. */
const makeSure = async (wish: Wish, random: Random): Promise<void> => {
  let shown: string[] = [];
  await waitUntil(
    () => `In the one tab ${shown[0]} and in the other ${shown[1]}`,
    async () => {
      await quiet();
      if (wish.isDone(await readThings())) return true;
      const tab = random.pick(tabs);
      await wish.open(tab);
      await clickTwice(tab, wish.button(tab), random);
      await quiet();
      shown = await Promise.all(tabs.map(({ text }) => text()));
      return false;
    },
  );
  await quiet();
};

const race = async (index: number, random: Random) => {
  moods = [];
  const kind = random.pick(Object.keys(wishes));
  const wish = await wishes[kind]?.(`${kind} ${index}`, random);
  if (wish === undefined) throw new Error("no wish");
  const before = await readThings();
  const isMade = kind.startsWith("make");
  moods = Array.from({ length: 3 }, () =>
    random.pick<Mood>(["prompt", "prompt", "slow", "lost before", "lost after", "lost after"]),
  );
  // What is to be made is wished for in one tab; what changes or goes, in both at once.
  const tab = random.pick(tabs);
  const used = isMade ? [tab] : tabs;
  for (const one of used) await wish.open(one);
  await Promise.all(used.map((one) => clickTwice(one, wish.button(one), random)));
  for (let moves = random.below(movesMax); moves > 0; moves -= 1) {
    await injectDelay("human pause", random.below(moveMsMax));
    const moved = random.pick(used);
    const move = random.below(4);
    if (move === 0) await moved.page.reload();
    else if (move === 1) await moved.page.goBack().then(() => moved.page.goForward());
    else await clickTwice(moved, wish.button(moved), random);
  }
  await makeSure(wish, random);
  const after = await readThings();
  return { kind, after: sorted(after), expected: sorted(wish.expected(before, after)) };
};

describe(`${races} wishes of a person who clicks twice, loads anew, and loses answers`, () => {
  test(`come true once each, and nothing else happens (SEED=${seed})`, async () => {
    process.stderr.write(`races of the console: SEED=${seed}\n`);
    const random = createRandom(seed);
    for (let index = 0; index < races; index += 1) {
      const { kind, after, expected } = await race(index, random);
      expect([index, kind, after]).toEqual([index, kind, expected]);
    }
    expect(person.faults).toEqual([]);
  }, 600_000);
});
