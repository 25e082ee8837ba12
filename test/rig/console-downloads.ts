import { Client } from "pg";
import type { Console } from "./use-console.ts";

/** The label of the button that starts a download. */
export const downloadButtonName = "Download links (CSV)";

/** Slow enough for the download to take about one minute. */
const slowBytesPerSecond = 200_000;

type ShopUser = Awaited<ReturnType<typeof signUpWithLinks>>;

export const queryLinksDatabase = async (
  system: Console,
  text: string,
  values: unknown[],
): Promise<void> => {
  const client = new Client({ connectionString: system.getAdminUrl("links-api") });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
};

/**
 * Signs up a user and opens the links view. The account has `copyCount` copies of its first link.
 * Records all downloaded files.
 */
export const signUpWithLinks = async (system: Console, handle: string, copyCount = 0) => {
  const user = await system.signUp(handle, { viewport: { width: 320, height: 640 } });
  const { context, goTo, tab } = user;
  const post = async (path: string, data: object): Promise<string> => {
    const url = `${system.origin}/console/api/${path}`;
    const response = await context.request.post(url, { data, headers: { origin: system.origin } });
    return String((await response.json()).id);
  };
  const walletAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
  await post("wallets", { walletAddress, tokenId: "usdc-base", isDefault: true });
  const linkId = await post("payment-links", { toAmount: "7", description: 'Tea,\r\n"green"' });
  await queryLinksDatabase(
    system,
    `INSERT INTO links_api.links (
       id, user_id, version, status, to_amount, description, created_at, expires_at, wallet_id,
       destination_address, token_id, chain_id, token_address, payment_reference
     )
     SELECT left(id, 22) || lpad(number::text, 10, '0'), user_id, 1, status, to_amount,
       repeat('x', 400), created_at + number * interval '1 ms', expires_at, wallet_id,
       destination_address, token_id, chain_id, token_address, md5(id || number)
     FROM links_api.links, generate_series(1, $2::int) AS number WHERE id = $1`,
    [linkId, copyCount],
  );
  const files: string[] = [];
  tab.page.on("download", (download) => files.push(download.suggestedFilename()));
  const requestedUrls: string[] = [];
  context.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith(".csv")) requestedUrls.push(request.url());
  });
  await goTo("/links");
  await tab.waitForText("7 USDC");
  return { ...user, requestedUrls, files, linkId };
};

export const throttleNetwork = async ({ context, tab }: ShopUser): Promise<void> => {
  const network = await context.newCDPSession(tab.page);
  const unchangedConditions = { offline: false, latency: 0, uploadThroughput: -1 };
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", {
    ...unchangedConditions,
    downloadThroughput: slowBytesPerSecond,
  });
};

export const downloadFile = async ({ tab }: ShopUser): Promise<string> => {
  const [download] = await Promise.all([
    tab.page.waitForEvent("download"),
    tab.click(downloadButtonName),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};
