import { afterAll, beforeAll, expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import type { Locator, Route } from "playwright-core";
import { createConsole } from "../rig/create-console.ts";
import type { Tab } from "../rig/chromium.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { type Random, createRandom } from "../simulation/random.ts";

const { describe, test } = requireChromium();

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const raceCount = Number(process.env["RACES"] ?? 50);
const actionsMax = 4;
/** The maximum delay between the two clicks of a double click. */
const clickMsMax = 250;
const actionDelayMsMax = 150;
/** The timeout for finding an element that can disappear. */
const lookupTimeoutMs = 1_000;
const endpointsMax = 5;

type RequestFault = "prompt" | "slow" | "lost before" | "lost after";
type AccountItem = { id: string; name: string; state: string };

let system: Awaited<ReturnType<typeof createConsole>>;
let user: Awaited<ReturnType<typeof system.signUp>>;
let tabs: Tab[];
/** The faults that will be injected into the next mutating requests, in order. */
let pendingFaults: RequestFault[] = [];
let inFlightCount = 0;

beforeAll(async () => {
  system = await createConsole();
  user = await system.signUp("racer");
  tabs = [user.tab, await user.openTab()];
  await user.addDefaultWallet();
  await user.context.route("**/console/api/**", handleRequest);
});
afterAll(() => system?.close());

const handleRequest = async (route: Route): Promise<void> => {
  if (route.request().method() === "GET") return route.continue();
  const fault = pendingFaults.shift() ?? "prompt";
  if (fault === "lost before") return route.abort();
  inFlightCount += 1;
  try {
    if (fault === "slow") await injectDelay("slow peer", clickMsMax);
    const response = await route.fetch();
    await (fault === "lost after" ? route.abort() : route.fulfill({ response }));
  } catch {
    // The page that made the request was closed.
  } finally {
    inFlightCount -= 1;
  }
};

const toApiUrl = (relativePath: string) => `${system.origin}/console/api/${relativePath}`;
const readList = async (path: string): Promise<Record<string, string>[]> =>
  (await user.call("get", path)).data as Record<string, string>[];

/** Returns all API keys, endpoints and links of the account, with their states. */
const readItems = async (): Promise<AccountItem[]> => {
  const items: AccountItem[] = [];
  for (const { id = "", name = "", active, replacedBy } of await readList("api-keys")) {
    items.push({ id, name, state: `key ${active} ${replacedBy === null ? "own" : "replaced"}` });
  }
  for (const { id = "", name = "", enabled } of await readList("webhook-endpoints")) {
    items.push({ id, name, state: `endpoint ${enabled}` });
  }
  for (let cursor = ""; ;) {
    const { data, nextBefore } = (await user.call("get", `payment-links${cursor}`)) as unknown as {
      data: Record<string, string>[];
      nextBefore: string | null;
    };
    for (const { id = "", description = "", status } of data)
      items.push({ id, name: description, state: `link ${status}` });
    if (nextBefore === null) return items;
    cursor = `?before=${nextBefore}`;
  }
};

/**
 * Waits until no request is in flight and no page shows "Working…". A user also waits for this
 * before checking the result.
 */
const waitUntilIdle = () =>
  waitUntil("no request is in flight", async () => {
    const pageTexts = await Promise.all(tabs.map(({ readText: pageText }) => pageText()));
    return inFlightCount === 0 && pageTexts.every((pageText) => !pageText.includes("Working…"));
  });

/**
 * Double-clicks at one position, as a user would. The second click hits the element that is at this
 * position at that time.
 */
const clickTwice = async (tab: Tab, button: Locator, random: Random): Promise<void> => {
  const delayMs = random.below(clickMsMax);
  if ((await button.count()) === 0) return;
  // Returns without clicking if the button is missing. A later action can click it.
  /* oxlint-disable reliability/no-short-limit */
  await button.scrollIntoViewIfNeeded({ timeout: lookupTimeoutMs }).catch(() => undefined);
  const box = await button.boundingBox({ timeout: lookupTimeoutMs }).catch(() => null);
  /* oxlint-enable reliability/no-short-limit */
  if (box === null) return;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await tab.page.mouse.click(x, y);
  await injectDelay("human pause", delayMs);
  await tab.page.mouse.click(x, y, { clickCount: 2 });
};

/**
 * Waits for a navigation. Returns false if the page has replaced it by its own, for example after a
 * slow response.
 */
const waitForNavigation = async (navigation: Promise<unknown>): Promise<boolean> => {
  try {
    await navigation;
    return true;
  } catch (error) {
    if (!/ERR_ABORTED|interrupted by another navigation/.test(String(error))) throw error;
    return false;
  }
};

const findButtonByName = (tab: Tab, name: string): Locator =>
  tab.page.getByRole("button", { name, exact: true }).first();

const goTo = async (tab: Tab, path: string): Promise<void> => {
  const url = `${system.origin}/console${path}`;
  await waitUntil(`the page opens ${path}`, () => waitForNavigation(tab.page.goto(url)));
  await tab.waitForText("Signed in as racer");
};

const findButtonInDialog = (tab: Tab, name: string): Locator =>
  tab.page.getByRole("dialog").getByRole("button", { name, exact: true });

/** A user's goal: how to open the form, which button to click, and how to detect success. */
type UserAction = {
  openForm: (tab: Tab) => Promise<void>;
  findButton: (tab: Tab) => Locator;
  /** Returns the expected items of the account after the goal was fulfilled exactly once. */
  expectedItems: (
    itemsBefore: readonly AccountItem[],
    itemsAfter: readonly AccountItem[],
  ) => AccountItem[];
  isFulfilled: (items: readonly AccountItem[]) => boolean;
};

const filterByName = (name: string) => (items: readonly AccountItem[]) =>
  items.filter((item) => item.name === name);

const createAction = (
  name: string,
  state: string,
  controls: Pick<UserAction, "openForm" | "findButton">,
): UserAction => ({
  ...controls,
  isFulfilled: (items) => filterByName(name)(items).length > 0,
  expectedItems: (itemsBefore, itemsAfter) => {
    const [createdItem] = filterByName(name)(itemsAfter);
    return [...itemsBefore, { id: createdItem?.id ?? "", name, state }];
  },
});

const actions: Record<string, (name: string, random: Random) => Promise<UserAction>> = {
  "create a link": async (name) =>
    createAction(name, "link active", {
      openForm: async (tab) => {
        await goTo(tab, "/links/new");
        await tab.page.getByLabel("Amount").fill("25");
        await tab.page.getByLabel("Description").fill(name);
        await tab.page.getByText("More options").click();
        await tab.page.getByLabel("Expiry").selectOption("3");
      },
      findButton: (tab) => findButtonByName(tab, "Create link"),
    }),
  "create a key": async (name) =>
    createAction(name, "key true own", {
      openForm: async (tab) => {
        await goTo(tab, "/keys");
        await tab.click("Create API key");
        await tab.type("Create API key", name);
      },
      findButton: (tab) => findButtonInDialog(tab, "Create API key"),
    }),
  "create an endpoint": async (name) => {
    for (const { id = "" } of (await readList("webhook-endpoints")).slice(0, -(endpointsMax - 1))) {
      await user.context.request.delete(toApiUrl(`webhook-endpoints/${id}`));
    }
    return createAction(name, "endpoint true", {
      openForm: async (tab) => {
        await goTo(tab, "/webhooks");
        await tab.click("Add endpoint");
        await tab.page.getByLabel("Name").fill(name);
        await tab.page.getByLabel("URL", { exact: true }).fill("https://shop.com/hook");
      },
      findButton: (tab) => findButtonInDialog(tab, "Add endpoint"),
    });
  },
  "rotate a key": async (name) => {
    const { id } = await user.call("post", "api-keys", { name, scopes: ["payment_link:read"] });
    return {
      openForm: async (tab) => {
        await goTo(tab, "/keys");
        await tab.chooseInMenu(`Actions: ${name}`, "Rotate");
      },
      findButton: (tab) => findButtonInDialog(tab, "Rotate"),
      isFulfilled: (items) =>
        items.some((item) => item.id === id && item.state.endsWith("replaced")),
      expectedItems: (itemsBefore, itemsAfter) => {
        const createdItem = filterByName(name)(itemsAfter).find((item) => item.id !== id);
        return [
          ...itemsBefore.filter((item) => item.id !== id),
          { id, name, state: "key true replaced" },
          { id: createdItem?.id ?? "", name, state: "key true own" },
        ];
      },
    };
  },
  "deactivate a key": async (name) => {
    const { id } = await user.call("post", "api-keys", { name, scopes: ["payment_link:read"] });
    return {
      openForm: async (tab) => {
        await goTo(tab, "/keys");
        await tab.click(`Actions: ${name}`);
      },
      findButton: (tab) => tab.page.getByRole("menuitem", { name: "Deactivate" }),
      isFulfilled: (items) =>
        items.some((item) => item.id === id && item.state === "key false own"),
      expectedItems: (itemsBefore) =>
        itemsBefore.map((item) => (item.id === id ? { id, name, state: "key false own" } : item)),
    };
  },
  "revoke a key": async (name) => {
    const { id } = await user.call("post", "api-keys", { name, scopes: ["payment_link:read"] });
    return createRemoval(id, {
      openForm: async (tab) => {
        await goTo(tab, "/keys");
        await tab.chooseInMenu(`Actions: ${name}`, "Revoke");
      },
      findButton: (tab) => findButtonInDialog(tab, "Revoke"),
    });
  },
  "deactivate a link": async (name) => {
    const { id } = await user.call("post", "payment-links", { toAmount: "5", description: name });
    return {
      openForm: async (tab) => {
        await goTo(tab, `/links/${id}`);
        await findButtonByName(tab, "More actions").click();
        await tab.page.getByRole("menuitem", { name: "Deactivate" }).click();
      },
      findButton: (tab) => findButtonInDialog(tab, "Deactivate"),
      isFulfilled: (items) =>
        items.some((item) => item.id === id && item.state === "link inactive"),
      expectedItems: (itemsBefore) =>
        itemsBefore.map((item) => (item.id === id ? { id, name, state: "link inactive" } : item)),
    };
  },
  "delete an endpoint": async () => {
    if ((await readList("webhook-endpoints")).length < 2) {
      await user.call("post", "webhook-endpoints", {
        url: "https://shop.com/hook",
        name: "first endpoint",
      });
      await user.call("post", "webhook-endpoints", {
        url: "https://shop.com/hook",
        name: "second endpoint",
      });
    }
    const [{ id = "" } = {}] = await readList("webhook-endpoints");
    return createRemoval(id, {
      openForm: async (tab) => {
        await goTo(tab, `/webhooks/${id}`);
        await tab.chooseInMenu(/^Actions: /, "Delete");
      },
      findButton: (tab) => findButtonInDialog(tab, "Delete"),
    });
  },
};

const createRemoval = (
  id: string,
  controls: Pick<UserAction, "openForm" | "findButton">,
): UserAction => ({
  ...controls,
  isFulfilled: (items) => items.every((item) => item.id !== id),
  expectedItems: (itemsBefore) => itemsBefore.filter((item) => item.id !== id),
});

const sortById = (items: readonly AccountItem[]) =>
  items.toSorted((first, second) => (first.id < second.id ? -1 : 1));

/**
 * Checks the result after each attempt, as a careful user would, and repeats the action only if it
 * did not take effect.
 */
const repeatUntilFulfilled = async (action: UserAction, random: Random): Promise<void> => {
  let pageTexts: string[] = [];
  await waitUntil(
    () => `the action takes effect; first tab: ${pageTexts[0]}; second tab: ${pageTexts[1]}`,
    async () => {
      await waitUntilIdle();
      if (action.isFulfilled(await readItems())) return true;
      const tab = random.pick(tabs);
      await action.openForm(tab);
      await clickTwice(tab, action.findButton(tab), random);
      await waitUntilIdle();
      pageTexts = await Promise.all(tabs.map(({ readText: pageText }) => pageText()));
      return false;
    },
  );
  await waitUntilIdle();
};

const runRace = async (index: number, random: Random) => {
  pendingFaults = [];
  const kind = random.pick(Object.keys(actions));
  const action = await actions[kind]?.(`${kind} ${index}`, random);
  if (action === undefined) throw new Error("no action was picked");
  const itemsBefore = await readItems();
  const isCreation = kind.startsWith("create");
  pendingFaults = Array.from({ length: 3 }, () =>
    random.pick<RequestFault>([
      "prompt",
      "prompt",
      "slow",
      "lost before",
      "lost after",
      "lost after",
    ]),
  );
  // Items are created in one tab only. Changes and deletions happen in both tabs at the same time.
  const tab = random.pick(tabs);
  const usedTabs = isCreation ? [tab] : tabs;
  for (const usedTab of usedTabs) await action.openForm(usedTab);
  await Promise.all(
    usedTabs.map((usedTab) => clickTwice(usedTab, action.findButton(usedTab), random)),
  );
  for (
    let remainingActions = random.below(actionsMax);
    remainingActions > 0;
    remainingActions -= 1
  ) {
    await injectDelay("human pause", random.below(actionDelayMsMax));
    const actingTab = random.pick(usedTabs);
    const actionKind = random.below(4);
    if (actionKind === 0) await waitForNavigation(actingTab.page.reload());
    else if (actionKind === 1) {
      await waitForNavigation(actingTab.page.goBack());
      await waitForNavigation(actingTab.page.goForward());
    } else await clickTwice(actingTab, action.findButton(actingTab), random);
  }
  await repeatUntilFulfilled(action, random);
  const itemsAfter = await readItems();
  return {
    kind,
    itemsAfter: sortById(itemsAfter),
    expectedItems: sortById(action.expectedItems(itemsBefore, itemsAfter)),
  };
};

describe(`${raceCount} actions of a user who double-clicks, reloads, and loses responses`, () => {
  test(`take effect once each, without other changes (SEED=${seed})`, async () => {
    process.stderr.write(`races of the console: SEED=${seed}\n`);
    const random = createRandom(seed);
    for (let index = 0; index < raceCount; index += 1) {
      const { kind, itemsAfter, expectedItems } = await runRace(index, random);
      expect([index, kind, itemsAfter]).toEqual([index, kind, expectedItems]);
    }
    expect(user.violations).toEqual([]);
  }, 600_000);
});
