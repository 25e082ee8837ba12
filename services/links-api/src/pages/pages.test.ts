import { Script } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type Account,
  createCatalogue,
  newId,
  loadCatalogue,
  buildOwnerImagePath,
  buildPictureUrl,
} from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type CallResponse, type Rig, createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement, shopAddress, usdcOnBase } from "../testing/samples.ts";
import { scanQrImage } from "../testing/scan-qr-image.ts";

const rig = useRig(createRig);

const createCheckout = async (account: Account = sampleAccount(), body: object = {}) => {
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "25.5", ...body });
  return { id, path: `/@${account.handle}/pay/${id}` };
};

/** Lists the scripts that a page loads from our own files. */
const listScripts = ({ text }: CallResponse): (string | undefined)[] =>
  [...text.matchAll(/<script src="\/checkout\/assets\/([^?"]+)/g)].map(([, name]) => name);

const expectPageResponse = (
  response: CallResponse,
  status = 200,
  images = "'self'",
  connections = "'self'",
): void => {
  expect(response.status).toBe(status);
  const { headers } = response;
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cache-control")).toBe("no-store");
  const policy = headers.get("content-security-policy") ?? "";
  for (const directive of [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${images}`,
    `connect-src ${connections}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]) {
    expect(policy.split("; ")).toContain(directive);
  }
  // The page must not contain inline code or styles, which the policy would have to allow.
  expect(response.text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
  expect(response.text).not.toMatch(/<script(?![^>]* src=)/i);
};

describe("GET /@:handle/pay/:id", () => {
  test("shows the owner, amount, token, destination and expiry", async () => {
    const expirationDate = "2026-12-24T18:00:00Z";
    const { path } = await createCheckout(sampleAccount({ bio: "Tea & more" }), {
      description: "Order 7",
      maxUsage: 3,
      expirationDate,
    });
    const page = await rig.call(path);
    expectPageResponse(page);
    for (const expectedText of [
      "Alice&#39;s Shop",
      "Tea &amp; more",
      "25.5",
      "USDC",
      "Base",
      usdcOnBase.tokenAddress,
      `<code>${shopAddress}</code>`,
      "Order 7",
      "(0 of 3 payments)",
      '<time datetime="2026-12-24T18:00:00.000Z">24 Dec 2026, 18:00 UTC</time>',
      'src="/checkout/assets/network-base.svg?v=',
      'src="/checkout/assets/token-usdc.svg?v=',
    ]) {
      expect(page.text).toContain(expectedText);
    }
    expect(listScripts(page)).toEqual(["followed.js"]);
    for (const [, source = ""] of page.text.matchAll(/src="([^"]+\.svg[^"]*)"/g)) {
      const image = await rig.call(source);
      expect([source, image.status]).toEqual([source, 200]);
      expect(image.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
    }
  });

  test("given an active link with an expiry, includes the remaining time and the expired text for the script (rule API-29)", async () => {
    const expirationDate = new Date(rig.clock.now().getTime() + 90_000).toISOString();
    const { id, path } = await createCheckout(sampleAccount(), { expirationDate });
    const expiryPattern =
      /role="timer"\s+data-left-ms="90000"\s+data-text="Expires in \{left\}"\s+>/;
    const { text } = await rig.call(path);
    expect(text).toMatch(expiryPattern);
    expect(text).toMatch(/data-at-expiry hidden>[^]*<h2>This payment link has expired\.<\/h2>/);
    await rig.settle(sampleSettlement(id, { amount: "25.5" }));
    expect((await rig.call(path)).text).not.toMatch(/role="timer"|has expired/);
  });

  test("given a link that its owner closed, does not call it expired (rule API-29)", async () => {
    const account = sampleAccount();
    const { id, path } = await createCheckout(account, { expirationDate: "2026-12-24T18:00:00Z" });
    const deactivation = await rig.call(`/console/api/payment-links/${id}/deactivate`, {
      method: "POST",
      headers: rig.createSessionHeaders(account),
    });
    expect(deactivation.status).toBe(200);
    const { text } = await rig.call(path);
    expect(text).toContain("<h2>The seller closed this payment link.</h2>");
    expect(text).toContain("ask the seller for a new link.");
    expect(text).not.toMatch(/expired|role="timer"/i);
  });

  test("given a link on a chain that is not watched, says so in addition to its open status (rule CHAIN-14)", async () => {
    const { path } = await createCheckout();
    expect((await rig.call(path)).text).toContain(
      "This page does not track payments on Base. Ask the seller how to pay.",
    );
  });

  test("given a test network, shows a warning first (rule CHAIN-14)", async () => {
    const account = sampleAccount();
    const wallets = account.wallets.map((wallet) => ({ ...wallet, tokenId: "usdc-sepolia" }));
    const { path } = await createCheckout({ ...account, wallets });
    expect((await rig.call(path)).text).toContain("Sepolia is a test network without real money.");
    expect((await rig.call((await createCheckout()).path)).text).not.toContain("test network");
  });

  test("given a completed or inactive link, shows its status and the receipt", async () => {
    const { id, path } = await createCheckout();
    const settlement = sampleSettlement(id, { amount: "25.5" });
    await rig.settle(settlement);
    const completed = await rig.call(path);
    expectPageResponse(completed);
    expect(completed.text).toMatch(
      /<data value="25.5">25.5<\/data> USDC paid to <bdi>Alice&#39;s Shop<\/bdi>/,
    );
    expect(completed.text).toContain('<time datetime="2026-11-21T10:00:00.000Z">');
    expect(completed.text).toContain(`https://pay.example/tx/${settlement.id}`);

    const expiresAt = new Date(rig.clock.now().getTime() + 1000).toISOString();
    const expiringLink = await createCheckout(sampleAccount(), { expirationDate: expiresAt });
    rig.clock.advance(1000);
    const expired = await rig.call(expiringLink.path);
    expect(expired.text).toContain("<h2>This payment link has expired.</h2>");
    expect(expired.text).toContain("Ask the seller for a new link.");
  });

  test("given a paid link whose owner has a return address, the paid link and its receipt lead there with the link's id (rule API-39)", async () => {
    const { id, path } = await createCheckout(
      sampleAccount({ returnUrl: "https://shop.example/thanks?order=7" }),
    );
    expect((await rig.call(path)).text).not.toContain("shop.example");
    const settlement = sampleSettlement(id, { amount: "25.5" });
    await rig.settle(settlement);
    const href = `https://shop.example/thanks?order=7&amp;payment_link=${id}`;
    for (const page of [await rig.call(path), await rig.call(`/tx/${settlement.id}`)]) {
      expect(page.text).toContain(`<a class="primary" href="${href}">Return to shop</a>`);
    }
    const otherLink = await createCheckout();
    await rig.settle(sampleSettlement(otherLink.id, { amount: "25.5" }));
    expect((await rig.call(otherLink.path)).text).not.toContain("Return to shop");
  });

  test("given a handle other than the owner's current one, redirects with 308 (rule API-9)", async () => {
    const account = sampleAccount();
    const { id, path } = await createCheckout(account);
    const handle = "moved_shop";
    await rig.createLink(rig.createKeyHeaders({ ...account, version: 2, handle }), {
      toAmount: "1",
    });
    for (const formerPath of [path, `/@someone/pay/${id}`, `/@MOVED_SHOP/pay/${id}`]) {
      const response = await rig.call(formerPath);
      expect(response.status).toBe(308);
      expect(response.headers.get("location")).toBe(`https://pay.example/@moved_shop/pay/${id}`);
    }
    expectPageResponse(await rig.call(`/@moved_shop/pay/${id}`));
  });

  test("escapes hostile text", async () => {
    const hostileText = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;\u202e`;
    const account = sampleAccount({
      username: hostileText,
      bio: hostileText,
      profileImage: `https://img.example/a.png" onerror="alert(3)`,
      backgroundImage: "javascript:alert(4)",
      links: ["javascript:alert(5)", 'https://ok.example/?a=1&b="><b>', "data:text/html,x"],
    });
    const { id, path } = await createCheckout(account, { description: hostileText });
    const settlement = sampleSettlement(id, { amount: "25.5", sourceTransaction: hostileText });
    await rig.settle(settlement);
    for (const page of [await rig.call(path), await rig.call(`/tx/${settlement.id}`)]) {
      expectPageResponse({ ...page, text: page.text.replaceAll(/&[^;]+;[^<]*/g, "") });
      expect(page.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
      expect(page.text).not.toMatch(/<script>|<b>|<img src=x|javascript:|data:text/);
      expect(page.text.match(/<a /g)?.length).toBe(2);
      // A quote must not end the attribute that contains it.
      expect(page.text).toContain("?a=1&amp;b=&quot;&gt;&lt;b&gt;");
    }
  });

  test("shows the owner's https images at our own URLs, without naming other hosts (rule API-27)", async () => {
    const account = sampleAccount({
      profileImage: "https://img.example/a.png",
      backgroundImage: "https://img.example/b.png?payer=this",
    });
    const { id, path } = await createCheckout(account);
    const settlement = sampleSettlement(id, { amount: "25.5" });
    await rig.settle(settlement);
    for (const page of [await rig.call(path), await rig.call(`/tx/${settlement.id}`)]) {
      expectPageResponse(page);
      const sources = [...page.text.matchAll(/<img\s[^>]*src="([^"?]*)/g)].map(([, src]) => src);
      expect(sources).toEqual([
        buildOwnerImagePath(account.id, "https://img.example/b.png?payer=this"),
        buildOwnerImagePath(account.id, "https://img.example/a.png"),
        "/checkout/assets/network-base.svg",
      ]);
      expect(page.text).not.toContain("img.example");
    }
  });

  test("shows an uploaded image at its own path, also in previews (rule API-27)", async () => {
    const digest = "0123456789abcdef".repeat(4);
    const profileImage = buildPictureUrl("https://pay.example", digest);
    const { path } = await createCheckout(sampleAccount({ profileImage }));
    const page = await rig.call(path);
    expectPageResponse(page);
    expect(page.text).toContain(
      `<img class="portrait" src="/checkout/pictures/${digest}" alt="" />`,
    );
    expect(page.text).toContain(`<meta property="og:image" content="${profileImage}" />`);
  });

  test("has the owner's background color if it is valid (rule API-32)", async () => {
    const readFillColours = async (backgroundColour: string | null) => {
      const { id, path } = await createCheckout(sampleAccount({ backgroundColour }));
      const settlement = sampleSettlement(id, { amount: "25.5" });
      await rig.settle(settlement);
      const pages = [await rig.call(path), await rig.call(`/tx/${settlement.id}`)];
      for (const page of pages) expectPageResponse(page);
      return pages.map(({ text }) => /<rect[^>]* fill="([^"]*)"/.exec(text)?.[1]);
    };
    expect(await readFillColours("#12aBcd")).toEqual(["#12aBcd", "#12aBcd"]);
    for (const invalidColour of [null, "red", "url(#x)", '#123456" onload="x', "#1234567"]) {
      expect(await readFillColours(invalidColour)).toEqual([undefined, undefined]);
    }
  });

  test("shows no image without an https URL", async () => {
    const { path } = await createCheckout(
      sampleAccount({ profileImage: "http://img.example/a.png", backgroundImage: "data:x" }),
    );
    expect((await rig.call(path)).text).not.toMatch(/<img class="(?:banner|portrait)/);
  });

  test.each([
    "/@shop/pay/plink_01m7y4kb9sfvktcnzb0r3g9a0s",
    "/@shop/pay/x",
    "/tx/x",
    `/tx/${newId("tx")}`,
  ])("given %s, which is unknown, returns 404 as a page", async (path) => {
    const response = await rig.call(path);
    expectPageResponse(response, 404);
    expect(response.text).toContain("<h1>Page not found</h1>");
  });
});

describe("the checkout of a payable link", () => {
  const seed = loadCatalogue();
  const usdtTron = seed.tokens.find(({ id }) => id === "usdt-tron");
  if (usdtTron === undefined) throw new Error("the catalogue has no usdt-tron");
  const trx = { ...usdtTron, id: "trx", address: "TRX", symbol: "TRX", isNative: true };
  const catalogue = createCatalogue({ chains: [...seed.chains], tokens: [...seed.tokens, trx] });
  let payableRig: Rig;
  beforeAll(async () => {
    payableRig = await createRig({
      catalogue,
      settlementChains: ["8453", "bitcoin", "solana", "tron"],
    });
  });
  afterAll(() => payableRig.close());

  test("shows each transaction, loads only our own scripts, and lets wallets use the chain's public node (rule CALLER-31)", async () => {
    const account = sampleAccount();
    const id = await payableRig.createLink(payableRig.createKeyHeaders(account), {
      toAmount: "25.5",
    });
    const page = await payableRig.call(`/@${account.handle}/pay/${id}`);
    // The policy allows icons from wallets, and the nodes that wallets call to read the chain.
    expectPageResponse(page, 200, "'self' data:", "'self' https://mainnet.base.org");
    expect(page.text).toContain('data-rpc="https://mainnet.base.org"');
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    const { instructions } = (await payableRig.call(`/checkout/payment-links/${id}`)).json;
    for (const { to, data } of instructions.steps) {
      expect(page.text).toContain(`<code>${to}</code>`);
      expect(page.text).toContain(`<code>${data}</code>`);
    }
    expect(page.text).toContain(`<code>${instructions.paymentReference}</code>`);
    expect(page.text).toMatch(/Pay\s+<data value="25.5">25.5<\/data>\s+USDC/);
    expect(listScripts(page)).toEqual(["checkout.js"]);
    const urls = [...page.text.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, url]) => url);
    for (const url of urls) {
      const script = await payableRig.call(url ?? "");
      expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(script.text).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|eval\(/);
      // The script must be a single file without imports, because browsers cache it permanently.
      expect(script.text).not.toMatch(/^\s*(import|export)\b|\bimport\(/m);
      expect(() => new Script(script.text)).not.toThrow();
      expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    }
  });

  test("offers wallet apps to browsers without a wallet, and sends no referrer", async () => {
    const account = sampleAccount();
    const id = await payableRig.createLink(payableRig.createKeyHeaders(account), {
      toAmount: "25.5",
    });
    const { text } = await payableRig.call(`/@${account.handle}/pay/${id}`);
    const address = encodeURIComponent(`https://pay.example/@${account.handle}/pay/${id}`);
    const links = [
      ...text.matchAll(/<a\s+class="\w+"\s+href="([^"]+)"([^>]*)>Open in ([^<]+)<\/a/g),
    ];
    expect(links.map(([, href]) => href?.replaceAll("&amp;", "&"))).toEqual([
      `https://link.metamask.io/dapp/pay.example/@${account.handle}/pay/${id}`,
      `https://go.cb-w.com/dapp?cb_url=${address}`,
      `https://link.trustwallet.com/open_url?coin_id=60&url=${address}`,
      "https://web3.okx.com/download?deeplink=" +
        encodeURIComponent(`okx://wallet/dapp/url?dappUrl=${address}`),
      `https://phantom.app/ul/browse/${address}?ref=https%3A%2F%2Fpay.example`,
    ]);
    for (const [, , attributes] of links) {
      expect(attributes).toContain('rel="noopener noreferrer nofollow"');
      expect(attributes).toContain('referrerpolicy="no-referrer"');
    }
    expect(text.split(`src="/checkout/qr/${id}.svg"`)).toHaveLength(2);
    expect(text).toContain('alt="QR code for this page"');
  });

  test.each<[string, Partial<Account["wallets"][number]>, string, string]>([
    [
      "a token without a payment contract",
      {
        tokenId: trx.id,
        chainType: "TVM",
        walletAddress: "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC",
      },
      "25.5",
      "This token has no payment contract on Tron",
    ],
    [
      "an amount that no payment can have",
      {
        tokenId: "usdc-solana",
        chainType: "SVM",
        walletAddress: "1nc1nerator11111111111111111111111111111111",
      },
      "18446744073709.551616",
      "This amount cannot be sent on Solana.",
    ],
  ])(
    "given %s, says why an open link cannot be paid (rule CHAIN-14)",
    async (_name, overrides, toAmount, reason) => {
      const account = sampleAccount();
      const wallets = account.wallets.map((wallet) => ({ ...wallet, ...overrides }));
      const keyHeaders = payableRig.createKeyHeaders({ ...account, wallets });
      const id = await payableRig.createLink(keyHeaders, { toAmount });
      const page = await payableRig.call(`/@${account.handle}/pay/${id}`);
      expectPageResponse(page);
      expect(page.text).toContain("<h2>You cannot pay here</h2>");
      expect(page.text).toContain(reason);
    },
  );

  test("shows no payment instructions once the link is completed", async () => {
    const account = sampleAccount();
    const id = await payableRig.createLink(payableRig.createKeyHeaders(account), { toAmount: "1" });
    await payableRig.settle(sampleSettlement(id, { amount: "1" }));
    const page = await payableRig.call(`/@${account.handle}/pay/${id}`);
    expectPageResponse(page);
    expect(listScripts(page)).toEqual(["page.js"]);
    expect(page.text).not.toMatch(/payment reference/);
  });
});

describe("GET /tx/:id", () => {
  test("shows the payment's amount, token and time, and links back to the checkout", async () => {
    const { id, path } = await createCheckout();
    const settlement = sampleSettlement(id, { amount: "14.5", sourceTransaction: "0xfeed" });
    await rig.settle(settlement);
    const page = await rig.call(`/tx/${settlement.id}`);
    expectPageResponse(page);
    const amountPatterns = [
      /Amount paid<\/dt>\s+<dd><data value="14.5">14.5<\/data> USDC/,
      /Requested<\/dt>\s+<dd><data value="25.5">25.5<\/data> USDC/,
      /Total received<\/dt>\s+<dd><data value="14.5">14.5<\/data> USDC/,
    ];
    for (const amountPattern of amountPatterns) expect(page.text).toMatch(amountPattern);
    for (const expectedText of ["14.5", "USDC", "Base", "0xfeed", "21 Nov 2026, 10:00 UTC", path]) {
      expect(page.text).toContain(expectedText);
    }
  });

  test("links to the chain's explorer only for transactions found by our own watch (rule API-31)", async () => {
    const sourceTransaction = `0x${"ab".repeat(32)}`;
    const readExplorerLink = async (
      paymentOverrides: Partial<ReturnType<typeof sampleSettlement>>,
    ) => {
      const { id } = await createCheckout();
      const settlement = { ...sampleSettlement(id, { sourceTransaction }), ...paymentOverrides };
      await rig.settle(settlement);
      const { text } = await rig.call(`/tx/${settlement.id}`);
      return /<a\s[^>]*explorer[^>]*>|<a\s+href="https:\/\/basescan[^>]*>/.exec(text)?.[0];
    };
    expect((await readExplorerLink({ source: "evm:8453" }))?.replaceAll(/\s+/g, " ").trim()).toBe(
      `<a href="https://basescan.org/tx/${sourceTransaction}" rel="noopener noreferrer" referrerpolicy="no-referrer" >`,
    );
    for (const unlinkedPayment of [
      { source: "provider:acme" },
      { source: "evm:1" },
      { source: "evm:8453", sourceTransaction: null },
      { source: "evm:8453", sourceTransaction: "../../x" },
    ]) {
      expect(await readExplorerLink(unlinkedPayment)).toBeUndefined();
    }
  });

  test("returns 404 for a payment that has not settled or is not applied", async () => {
    const { id } = await createCheckout();
    const payments = [
      sampleSettlement(id, { status: "processing" }),
      sampleSettlement(id, { status: "failed" }),
      sampleSettlement(id, { chainId: "1" }),
    ];
    for (const payment of payments) {
      await rig.settle(payment);
      expectPageResponse(await rig.call(`/tx/${payment.id}`), 404);
    }
  });
});

/** The `Accept` header that Chromium sends when a person enters a URL. */
const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

describe("the preview of a page in a messenger (rule API-30)", () => {
  const readPreview = ({ text }: CallResponse): Record<string, string> =>
    Object.fromEntries(
      [...text.matchAll(/<meta\s+property="og:(\w+)"\s+content="([^"]*)"/g)].map(
        ([, name, content]) => [name, content],
      ),
    );

  test("contains amount, owner, description and image for the checkout and the receipt", async () => {
    const profileImage = "https://img.example/a.png";
    const account = sampleAccount({ profileImage });
    const { id, path } = await createCheckout(account, {
      toAmount: "1234.5",
      description: "Order 7",
    });
    const settlement = sampleSettlement(id, { amount: "1000" });
    await rig.settle(settlement);
    const sharedTags = {
      site_name: "Payment Links",
      type: "website",
      description: "Order 7",
      image: `https://pay.example${buildOwnerImagePath(account.id, profileImage)}`,
    };
    const checkout = await rig.call(path);
    expect(readPreview(checkout)).toEqual({
      ...sharedTags,
      title: "1,234.5 USDC to Alice&#39;s Shop",
      url: `https://pay.example${path}`,
    });
    const receipt = await rig.call(`/tx/${settlement.id}`);
    expect(readPreview(receipt)).toEqual({
      ...sharedTags,
      title: "Receipt: 1,000 USDC to Alice&#39;s Shop",
      url: `https://pay.example/tx/${settlement.id}`,
    });
    for (const page of [checkout, receipt]) {
      expect(page.text).toContain('<meta name="robots" content="noindex" />');
      expect(page.text).not.toContain("img.example");
    }
  });

  test("is short, on one line and without bidirectional control characters, whatever the owner's texts contain", async () => {
    const account = sampleAccount({ username: '\u202e"><b>\u2067x\n y', profileImage: "http://x" });
    const { path } = await createCheckout(account, {
      description: `1\u202e\n\t2${"\u{1f600}".repeat(400)}`,
    });
    const page = await rig.call(path);
    const { title, description, image } = readPreview(page);
    expect(title).toBe("25.5 USDC to &quot;&gt;&lt;b&gt;x y");
    expect(page.text).toContain(`<title>${title}</title>`);
    expect(description).toBe(`1 2${"\u{1f600}".repeat(196)}…`);
    expect(image).toBeUndefined();
  });

  test("does not exist for an unknown page", async () => {
    expect(readPreview(await rig.call("/tx/x"))).toEqual({});
  });
});

describe("a path without a link", () => {
  test("shows the start page with a link to the console (rule ERROR-5)", async () => {
    const page = await rig.call("/");
    expectPageResponse(page);
    expect(page.text).toContain('href="/console"');
    expect(listScripts(page)).toEqual([]);
  });

  test.each(["/nothing", "/@shop", "/checkout/nothing", "/tx", "/%", "/v1x", "/nothing/v1/x"])(
    "%s returns 404 as a page to browsers and as the error envelope to programs (rule ERROR-5)",
    async (path) => {
      const page = await rig.call(path, { headers: { accept } });
      expectPageResponse(page, 404);
      expect(page.text).toContain("<h1>Page not found</h1>");
      for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
        const response = await rig.call(path, { headers });
        expect([response.status, response.json?.errors[0].code]).toEqual([404, "NOT_FOUND"]);
        expect(response.headers.get("vary")).toBe("Accept");
      }
    },
  );

  test.each(["/v1", "/v1/nothing", "/v1/%", "/console/api", "/console/api/nothing"])(
    "%s, below an API, returns the error envelope to all clients",
    async (path) => {
      const response = await rig.call(path, { headers: { accept } });
      expect([response.status, response.json?.errors[0].code]).toEqual([404, "NOT_FOUND"]);
    },
  );

  test("returns the error envelope for a POST, whatever the client accepts", async () => {
    const response = await rig.call("/nothing", {
      method: "POST",
      headers: { accept },
      body: "{}",
    });
    expect([response.status, response.json?.errors[0].code]).toEqual([404, "NOT_FOUND"]);
  });

  test.each(["/favicon.svg", "/favicon.ico"])(
    "%s is the icon of the pages and cannot run scripts",
    async (path) => {
      const icon = await rig.call(path);
      expect(icon.status).toBe(200);
      expect(icon.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
      expect(icon.headers.get("content-security-policy")).toBe("default-src 'none'");
      expect(icon.headers.get("cache-control")).toBe("public, max-age=86400");
      expect((await rig.call("/")).text).toContain('<link rel="icon" href="/favicon.svg"');
    },
  );
});

describe("the language of a page", () => {
  const germanRequest = { headers: { "accept-language": "de-AT,de;q=0.9,en;q=0.8" } };

  test("is German for a browser that requests it: checkout, receipt and errors (rule API-28)", async () => {
    const { id, path } = await createCheckout(sampleAccount(), { toAmount: "1234567.5" });
    const settlement = sampleSettlement(id, { amount: "1000.25" });
    await rig.settle(settlement);
    const checkout = await rig.call(path, germanRequest);
    expectPageResponse(checkout);
    for (const expectedText of [
      '<html lang="de">',
      "<title>1.234.567,5 USDC an Alice&#39;s Shop</title>",
      '<data value="1000.25">1.000,25</data> von',
    ]) {
      expect(checkout.text).toContain(expectedText);
    }
    const receipt = await rig.call(`/tx/${settlement.id}`, germanRequest);
    expect(receipt.text).toContain("Zahlung eingegangen");
    expect(receipt.text).toContain("21.11.2026, 10:00 UTC");
    const rejected = await rig.call("/tx/x", germanRequest);
    expectPageResponse(rejected, 404);
    expect(rejected.text).toContain("<h1>Seite nicht gefunden</h1>");
    for (const page of [checkout, receipt, rejected]) {
      expect(page.headers.get("vary")).toBe("Accept-Language");
    }
  });

  test.each([
    undefined,
    "*",
    "sv-SE, sv;q=0.9",
    "zh-TW",
    "en;q=0.9, de;q=0.8",
    "de;q=0",
    "x".repeat(9000),
  ])("is English for a browser that requests %s (rule API-28)", async (acceptLanguage) => {
    const { path } = await createCheckout();
    const headers = acceptLanguage === undefined ? {} : { "accept-language": acceptLanguage };
    const page = await rig.call(path, { headers });
    expectPageResponse(page);
    expect(page.text).toContain('<html lang="en">');
  });
});

describe("the console page and its files", () => {
  const findScript = (text: string): string =>
    /<script[^>]* src="([^"]+)"/.exec(text)?.[1] ?? "none";

  test.each(["/console", "/console/sign-in", "/console/links/plink_1"])(
    "%s is a page with one script of our own, and explains how to sign in without script",
    async (path) => {
      const page = await rig.call(path);
      expectPageResponse(page);
      expect(page.headers.get("content-security-policy")).toContain("script-src 'self'; connect");
      expect(page.text.match(/<script/g)).toHaveLength(1);
      expect(page.text).toContain('<form method="post" action="/console/api/session/form">');
      const script = await rig.call(findScript(page.text));
      expect(script.status).toBe(200);
      expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    },
  );

  test("every file that the page names is available in each encoding that browsers accept", async () => {
    const { text } = await rig.call("/console");
    const urls = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)];
    expect(urls.length).toBeGreaterThan(2);
    for (const [, url = ""] of urls) {
      const sizes: number[] = [];
      for (const encoding of ["identity", "gzip", "br"]) {
        const response = await rig.call(url, { headers: { "accept-encoding": encoding } });
        const contentEncoding = response.headers.get("content-encoding") ?? "identity";
        expect([response.status, contentEncoding, response.headers.get("vary")]).toEqual([
          200,
          encoding,
          "Accept-Encoding",
        ]);
        sizes.push(Number(response.headers.get("content-length")));
      }
      expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    }
  });

  test("the page explains how to sign in without script in the browser's language", async () => {
    const page = await rig.call("/console", { headers: { "accept-language": "de" } });
    expectPageResponse(page);
    expect(page.headers.get("vary")).toBe("Accept-Language");
    for (const expectedText of [
      '<html lang="de">',
      "<label>Anmeldelink <input",
      ">Weiter</button>",
    ]) {
      expect(page.text).toContain(expectedText);
    }
  });

  test("an open page can detect a newer console", async () => {
    const { text } = await rig.call("/console");
    const version = await rig.call("/console/version");
    expect(version.headers.get("cache-control")).toBe("no-store");
    expect(version.text).toMatch(/^[0-9a-f]{16}$/);
    expect(text).toContain(`<meta name="console-version" content="${version.text}" />`);
  });

  test("the console API's paths do not return the console, and only known files are served", async () => {
    for (const path of ["/console/api", "/console/api/nothing"]) {
      const { status, json } = await rig.call(path);
      expect([status, json.errors[0].code]).toEqual([404, "NOT_FOUND"]);
    }
    for (const unknownName of ["main.js", "..%2fmanifest.json", "manifest.json"]) {
      expect((await rig.call(`/console/assets/${unknownName}`)).status).toBe(404);
    }
  });

  test("every kind of file is rate limited per IP address, separately from pages (rule API-21)", async () => {
    const [, consoleFile = ""] =
      /src="(\/console\/assets\/[^"]+)"/.exec((await rig.call("/console")).text) ?? [];
    const paths = [
      consoleFile,
      "/console/version",
      "/checkout/assets/page.css",
      "/checkout/logos/8453.svg",
      "/favicon.svg",
      "/favicon.ico",
    ];
    for (const path of paths) {
      const { headers, status } = await rig.call(path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get("ratelimit-policy")).toMatch(/^"files";q=\d+/);
    }
  });

  test("the style sheet is served, and is not cached under an outdated URL", async () => {
    const { path } = await createCheckout();
    const url =
      /<link rel="stylesheet" href="([^"]+)"/.exec((await rig.call(path)).text)?.[1] ?? "";
    expect((await rig.call(url)).headers.get("content-type")).toBe("text/css; charset=utf-8");
    const oldResponse = await rig.call("/checkout/assets/page.css?v=old");
    expect(oldResponse.headers.get("cache-control")).toBe("no-cache");
    for (const unknownName of ["x.css", "..%2f..%2fservice.ts", "%2e%2e"]) {
      expect((await rig.call(`/checkout/assets/${unknownName}`)).status).toBe(404);
    }
  });

  test("every chain of the catalogue has a logo that cannot run scripts and contains no letters", async () => {
    for (const chain of rig.context.catalogue.chains) {
      const logo = await rig.call(`/checkout/logos/${chain.id}.svg`);
      expect(logo.status).toBe(200);
      expect(logo.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
      expect(logo.headers.get("content-security-policy")).toBe("default-src 'none'");
      expect(logo.text).not.toMatch(/<text|<script|<image|href/);
    }
    expect((await rig.call("/checkout/logos/none.svg")).status).toBe(404);
  });

  test("a test network has the logo of its main network", async () => {
    const readLogo = async (chainId: string) =>
      (await rig.call(`/checkout/logos/${chainId}.svg`)).text;
    expect(await readLogo("11155111")).toBe(await readLogo("1"));
    expect(await readLogo("8453")).not.toBe(await readLogo("1"));
  });

  test("a link page's QR code contains its URL and has a white margin", async () => {
    const account = sampleAccount();
    const { id, path } = await createCheckout(account);
    const image = await rig.call(`/checkout/qr/${id}.svg`);
    expect(image.status).toBe(200);
    expect(image.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
    expect(image.headers.get("content-security-policy")).toBe("default-src 'none'");
    const { marginModules, sideLength, text } = scanQrImage(image.text);
    expect([text, marginModules]).toEqual([`https://pay.example${path}`, 4]);
    expect(image.text).toContain(`<path fill="#fff" d="M0 0h${sideLength}v${sideLength}H0z" />`);
    for (const unknownName of ["plink_01m7y4kb9sfvktcnzb0r3g9a0s", "x"]) {
      expect((await rig.call(`/checkout/qr/${unknownName}.svg`)).status).toBe(404);
    }
  });
});

describe("the rate limit of pages per IP address", () => {
  test("returns 429 as a page, with the limits in its headers", async () => {
    const limit = { tokensPerSecond: 0.001, burst: 2 };
    const limitedRig = await createRig({ limits: { perKey: limit, perAddress: limit } });
    try {
      const responses = [];
      for (let count = 0; count < 3; count += 1) responses.push(await limitedRig.call("/tx/x"));
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 429]);
      const [, , lastResponse] = responses;
      if (lastResponse === undefined) throw new Error("three were asked");
      expectPageResponse(lastResponse, 429);
      expect(lastResponse.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(lastResponse.headers.get("ratelimit")).not.toBeNull();
      const apiResponse = await limitedRig.call("/v1/payment-link");
      expect([apiResponse.status, apiResponse.json.errors[0].code]).toEqual([429, "429"]);
    } finally {
      await limitedRig.close();
    }
  });
});
