import { beforeAll, describe, expect, test } from "@jest/globals";
import type { ChainType } from "@payment-links/chains";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import { type Account, newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement, shopAddress } from "../testing/samples.ts";
import { languages } from "./languages.ts";
import { english } from "./languages/en.ts";

const rig = useRig(() =>
  createRig({
    settlementChains: ["8453", "tron", "solana", "bitcoin"],
    isSignUpOpen: true,
    hasEmail: true,
  }),
);

const createAccount = (
  tokenId: string,
  chainType: ChainType = "EVM",
  walletAddress = shopAddress,
): Account => {
  const defaults = { isDefault: true, isChainDefault: true, provider: null };
  return sampleAccount({
    username: "Tea & Co",
    isVerified: false,
    returnUrl: "https://return.example/",
    wallets: [{ id: newId("wallet"), walletAddress, tokenId, chainType, ...defaults }],
  });
};

const createLink = async (account = createAccount("usdc-base"), body: object = {}) => {
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "25.5", ...body });
  return { id, account, path: `/@${account.handle}/pay/${id}` };
};

/** The paths of a page in each state. */
const pathsByState: Record<string, string> = { home: "/", "not found": "/nothing" };

beforeAll(async () => {
  const expirationDate = new Date(rig.clock.now().getTime() + 1_000).toISOString();
  const expired = await createLink(undefined, { expirationDate });
  rig.clock.advance(1_000);

  const closed = await createLink();
  const headers = rig.createSessionHeaders(closed.account);
  const deactivationPath = `/console/api/payment-links/${closed.id}/deactivate`;
  await rig.call(deactivationPath, { method: "POST", headers });

  const suspended = await createLink();
  await rig.receiveAccount({ ...suspended.account, version: 2, isSuspended: true });

  const partlyPaid = await createLink(undefined, { maxUsage: 3 });
  await rig.settle(
    sampleSettlement(partlyPaid.id),
    sampleSettlement(partlyPaid.id, { status: "processing" }),
  );

  const limited = await createLink(undefined, { maxUsage: 1 });
  await rig.settle(sampleSettlement(limited.id));

  const paid = await createLink();
  const payment = sampleSettlement(paid.id, {
    amount: "25.5",
    source: "evm:8453",
    sourceTransaction: `0x${"ab".repeat(32)}`,
  });
  await rig.settle(payment);

  const links = {
    open: await createLink(undefined, {
      description: "Order 7",
      maxUsage: 3,
      expirationDate: new Date(rig.clock.now().getTime() + 90_000).toISOString(),
    }),
    "partly paid": partlyPaid,
    "payment limit": limited,
    paid,
    expired,
    closed,
    suspended,
    unwatched: await createLink(createAccount("usdc-ethereum")),
    "test network": await createLink(createAccount("usdc-sepolia")),
    "too large": await createLink(
      createAccount("usdc-solana", "SVM", "1nc1nerator11111111111111111111111111111111"),
      { toAmount: "18446744073709.551616" },
    ),
    tron: await createLink(createAccount("usdt-tron", "TVM", "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC")),
    solana: await createLink(
      createAccount("usdc-solana", "SVM", "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"),
    ),
    bitcoin: await createLink(createAccount("btc", "BVM", generateDescriptor()), {
      toAmount: "0.25",
    }),
  };
  for (const [state, { path }] of Object.entries(links)) pathsByState[state] = path;
  pathsByState["receipt"] = `/tx/${payment.id}`;
  pathsByState["receipt sent"] = `/tx/${payment.id}?receipt=sent`;
});

/** Returns the text and the attributes that visitors perceive, without the texts for the script. */
const readContent = (page: string): string =>
  page
    .replaceAll(/<head>[^]*?<title>/g, "")
    .replaceAll(/\sdata-[\w-]+="[^"]*"/g, "")
    .replaceAll("&#39;", "'")
    .replaceAll(/\s+/g, " ");

const listTexts = (texts: object): string[] =>
  Object.values(texts).flatMap((value: unknown) =>
    typeof value === "object" && value !== null ? listTexts(value) : [String(value)],
  );

/** The English sentences. Every language has its own translation of each. */
const englishSentences = listTexts(english).filter(
  (text) => text.split(" ").length > 2 && !text.includes("{"),
);

describe("every page in every language (rule API-28)", () => {
  test.each(Object.keys(languages))(
    "%s: no text is missing, and every placeholder is replaced",
    async (language) => {
      for (const [state, path] of Object.entries(pathsByState)) {
        const headers = { "accept-language": language, accept: "text/html" };
        const page = await rig.call(path, { headers });
        const content = readContent(page.text);
        expect([state, page.status]).toEqual([state, state === "not found" ? 404 : 200]);
        expect(page.text).toContain(`<html lang="${language}">`);
        expect(page.headers.get("vary")).toContain("Accept-Language");
        expect([state, content.match(/\{\w*\}|undefined|\[object/g)]).toEqual([state, null]);
        if (language === "en") continue;
        const untranslated = englishSentences.filter((text) => content.includes(text));
        expect([state, untranslated]).toEqual([state, []]);
      }
    },
  );
});

describe("the language of a checkout (rule API-28)", () => {
  const readLanguage = async (path: string, acceptLanguage: string) => {
    const page = await rig.call(path, { headers: { "accept-language": acceptLanguage } });
    return /<html lang="([^"]*)">/.exec(page.text)?.[1];
  };

  test.each([
    ["es-419,es;q=0.9", "es"],
    ["fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "fr"],
    ["it-IT,it;q=0.9", "it"],
    ["ja,en-US;q=0.9,en;q=0.8", "ja"],
    ["pt-PT,pt;q=0.9,en;q=0.8", "pt-BR"],
    ["zh", "zh-Hans"],
    ["zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"],
    ["zh-Hans", "zh-Hans"],
    ["zh-TW,zh-Hant;q=0.9", "en"],
    ["sv-SE,sv;q=0.9,de;q=0.1", "de"],
  ])("a browser that requests %s gets %s", async (acceptLanguage, language) => {
    expect(await readLanguage(pathsByState["open"] ?? "", acceptLanguage)).toBe(language);
  });

  test("the console is in English for a browser that prefers a language of the other pages", async () => {
    expect(await readLanguage("/console", "fr,de;q=0.5")).toBe("de");
    expect(await readLanguage("/console", "fr")).toBe("en");
    expect(await readLanguage("/", "fr,de;q=0.5")).toBe("fr");
  });
});
