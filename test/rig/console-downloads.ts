import { Client } from "pg";
import type { Console } from "./use-console.ts";

/** The button that starts a download. */
export const start = "Download these links as CSV";

/** So that the file takes a minute. */
const slowBytesPerSecond = 200_000;

type Person = Awaited<ReturnType<typeof signUpShop>>;

export const queryLinks = async (
  system: Console,
  text: string,
  values: unknown[],
): Promise<void> => {
  const client = new Client({ connectionString: system.adminUrlOf("links-api") });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
};

/** Somebody who looks at their links, of which the first has copies, and all files that they were given. */
export const signUpShop = async (system: Console, handle: string, copies = 0) => {
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
  await queryLinks(
    system,
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

export const slowDown = async ({ context, tab }: Person): Promise<void> => {
  const network = await context.newCDPSession(tab.page);
  const asEver = { offline: false, latency: 0, uploadThroughput: -1 };
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", {
    ...asEver,
    downloadThroughput: slowBytesPerSecond,
  });
};

export const readFile = async ({ tab }: Person): Promise<string> => {
  const [file] = await Promise.all([tab.page.waitForEvent("download"), tab.click(start)]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};
