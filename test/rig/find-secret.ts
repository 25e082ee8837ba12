import type { BrowserContext, Page } from "playwright-core";

type SearchedBrowser = { context: BrowserContext; tab: { page: Page } };

/** Collects the texts that a page contains and stores, keyed by location. */
const readStorageScript = `(async () => {
  const read = async (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const databases = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await read(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      databases.push(name, await read(database.transaction(store).objectStore(store).getAll()));
    }
    database.close();
  }
  const kept = [];
  for (const name of await caches.keys()) {
    for (const request of await (await caches.open(name)).keys()) {
      kept.push(request.url, await (await caches.match(request)).text());
    }
  }
  return {
    page: document.documentElement.outerHTML,
    fields: [...document.querySelectorAll("input, textarea")].map(({ value }) => value),
    address: location.href,
    history: history.state,
    "local storage": { ...localStorage },
    "session storage": { ...sessionStorage },
    cookies: document.cookie,
    databases,
    caches: kept,
    requests: performance.getEntries().map(({ name }) => name),
  };
})()`;

/** Returns how often a secret occurs in a browser, keyed by location: the page and each kind of storage. */
export const countSecretOccurrences = async (
  { context, tab }: SearchedBrowser,
  secret: string,
): Promise<Record<string, number>> => {
  const storedValues = await tab.page.evaluate<Record<string, unknown>>(readStorageScript);
  const storage = await context.storageState({ indexedDB: true });
  return Object.fromEntries(
    Object.entries({ ...storedValues, storage })
      .map(([name, value]) => [name, JSON.stringify(value ?? "").split(secret).length - 1] as const)
      .filter(([, count]) => count > 0),
  );
};
