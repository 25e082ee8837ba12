import { expect } from "@jest/globals";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { findOverhang } from "../rig/open-console.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

const start = "Download these links as CSV";
const stop = `Stop: ${start}`;
const copyCount = 20_000;
/** So that the file takes a minute. */
const slowBytesPerSecond = 200_000;

type Person = Awaited<ReturnType<typeof signUpShop>>;

const query = async (text: string, values: unknown[]): Promise<void> => {
  const client = new Client({ connectionString: system.adminUrlOf("links-api") });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
};

/** Somebody who looks at their links, of which the first has copies, and all files that they were given. */
const signUpShop = async (handle: string, copies = 0) => {
  const person = await system.signUp(handle, { viewport: { width: 320, height: 640 } });
  const { context, goTo, tab } = person;
  const post = async (path: string, data: object): Promise<string> => {
    const url = `${system.origin}/console/api/${path}`;
    const answer = await context.request.post(url, { data, headers: { origin: system.origin } });
    return String((await answer.json()).id);
  };
  const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
  await post("wallets", { walletAddress, tokenId: "usdc-base", isDefault: true });
  const linkId = await post("payment-links", { toAmount: "7", description: 'Tea,\r\n"green"' });
  await query(
    `INSERT INTO links_api.links (
       id, user_id, version, status, to_amount, description, created_at, expires_at, wallet_id,
       destination_address, token_id, chain_id, token_address, payment_reference
     )
     SELECT left(id, 22) || lpad(number::text, 10, '0'), user_id, 1, status, to_amount,
       repeat('x', 400), created_at + number * interval '1 ms', expires_at, wallet_id,
       destination_address, token_id, chain_id, token_address, md5(id || number)
     FROM links_api.links, generate_series(1, $2::int) AS number WHERE id = $1`,
    [linkId, copies],
  );
  const files: string[] = [];
  tab.page.on("download", (file) => files.push(file.suggestedFilename()));
  const asked: string[] = [];
  context.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith(".csv")) asked.push(request.url());
  });
  await goTo("/links");
  await tab.see("7 USDC");
  return { ...person, asked, files, linkId };
};

const slowDown = async ({ context, tab }: Person): Promise<void> => {
  const network = await context.newCDPSession(tab.page);
  const asEver = { offline: false, latency: 0, uploadThroughput: -1 };
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", {
    ...asEver,
    downloadThroughput: slowBytesPerSecond,
  });
};

const readFile = async ({ tab }: Person): Promise<string> => {
  const [file] = await Promise.all([tab.page.waitForEvent("download"), tab.click(start)]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

describe("a CSV of links", () => {
  test("is the server's own, byte for byte, and tells how many rows it has", async () => {
    const person = await signUpShop("alma", 1_000);
    const { context, faults, files, tab } = person;
    const answer = await context.request.get(`${system.origin}/console/api/payment-links.csv`);
    expect(await readFile(person)).toBe(await answer.text());
    await tab.see("The file is complete. Rows: 1,001.");
    expect(files).toEqual(["payment-links.csv"]);
    expect(await findAxeFaults(tab.page)).toEqual([]);
    const again = tab.page.waitForEvent("download");
    await tab.page.getByRole("link", { name: "Save the file again" }).click();
    expect((await again).suggestedFilename()).toBe("payment-links.csv");
    expect(faults).toEqual([]);
  });

  test("shows how far it is, takes one of two clicks, and leaves nothing where it is stopped", async () => {
    const person = await signUpShop("bela", copyCount);
    const { asked, faults, files, tab } = person;
    await slowDown(person);
    await tab.page.getByRole("button", { name: start }).dblclick();
    await tab.see("of 20,001");
    const bar = tab.page.getByRole("progressbar", { name: start });
    await waitUntil("rows", async () => Number(await bar.getAttribute("value")) > 0);
    expect(await bar.getAttribute("max")).toBe(String(copyCount + 1));
    expect(await tab.page.getByRole("status").allInnerTexts()).toContain("Downloading…");
    expect(await findAxeFaults(tab.page)).toEqual([]);
    expect(await findOverhang(tab)).toBe(0);
    expect(asked).toHaveLength(1);
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe("Stop");
    await tab.page.keyboard.press("Enter");
    await tab.see("Stopped. Nothing was saved.");
    await bar.waitFor({ state: "detached" });
    expect(await tab.page.evaluate("document.activeElement.textContent")).toBe(start);
    expect(files).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("that broke off is none: it is said, and the next try is whole", async () => {
    const person = await signUpShop("cora", 1_000);
    const { files, linkId, tab } = person;
    const setToken = (tokenId: string) =>
      query("UPDATE links_api.links SET token_id = $2 WHERE id = $1", [linkId, tokenId]);
    await setToken("lost");
    await tab.click(start);
    await tab.see("The file broke off before its end, so nothing was saved.");
    expect(files).toEqual([]);
    expect(await findAxeFaults(tab.page)).toEqual([]);
    await setToken("usdc-base");
    expect((await readFile(person)).split("\r\n")).toHaveLength(1_004);
    expect(await tab.text()).not.toContain("broke off");
  });

  test("without its last rows is none, though what stands between ended it in order", async () => {
    const { context, files, tab } = await signUpShop("dana", 3);
    const answers = [
      (text: string) => text.split("\r\n").slice(0, 3).join("\r\n").concat("\r\n"),
      (text: string) => text.slice(0, -4),
    ];
    await context.route("**/console/api/payment-links.csv", async (route) => {
      const response = await route.fetch();
      const [cut = (text: string) => text] = answers.splice(0, 1);
      await route.fulfill({ response, body: cut(await response.text()) });
    });
    for (const left of [1, 0]) {
      await tab.click(start);
      await waitUntil("the answer", () => answers.length === left);
      await tab.see("The file broke off before its end");
      await tab.page.getByRole("button", { name: stop }).waitFor({ state: "detached" });
    }
    expect(files).toEqual([]);
  });

  test("that is refused, or not answered, says why", async () => {
    const { context, files, tab } = await signUpShop("elsa");
    const path = "**/console/api/payment-links.csv";
    const headers = { "content-type": "application/json", "retry-after": "10" };
    for (const [status, words] of [
      [429, "Please try again in 10 s."],
      [503, "Something failed on the server's side."],
      [200, "Something failed on the server's side."],
    ] as const) {
      await context.route(path, (route) => route.fulfill({ status, headers, body: "{}" }));
      await tab.click(start);
      await tab.see(words);
      await context.unroute(path);
    }
    await context.setOffline(true);
    await tab.click(start);
    await tab.see("The server cannot be reached.");
    await context.setOffline(false);
    const errors = [{ code: "UNAUTHENTICATED", message: "" }];
    await context.route(path, (route) => route.fulfill({ status: 401, json: { errors } }));
    await tab.click(start);
    await tab.see("You are not signed in.");
    expect(files).toEqual([]);
  });

  test("of any size can be left to the browser, which needs no script for it", async () => {
    const person = await signUpShop("fritz", copyCount);
    const { tab } = person;
    await slowDown(person);
    await tab.click(start);
    await tab.page.getByRole("link", { name: "Leave it to the browser" }).waitFor();
    const waiting = tab.page.waitForEvent("download");
    await tab.page.getByRole("link", { name: "Leave it to the browser" }).click();
    expect((await waiting).url()).toBe(`${system.origin}/console/api/payment-links.csv`);
    await tab.see("Downloading…");
  });
});
