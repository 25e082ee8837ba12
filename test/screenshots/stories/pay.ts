import { devnet } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { type InstalledWallet, createRecordedWallet, createWallet } from "../../rig/wallet.ts";
import type { Shop } from "../create-shop.ts";
import type { Frame, Scene, Story } from "../scene.ts";
import { type TokenId, createLink } from "../shop-actions.ts";

const families: readonly { name: string; tokenId: TokenId; toAmount: string }[] = [
  { name: "EVM", tokenId: devnet.tokenId, toAmount: "25" },
  { name: "Solana", tokenId: "usdc-local-solana", toAmount: "25" },
  { name: "Tron", tokenId: "usdc-local-tron", toAmount: "25" },
  { name: "Bitcoin", tokenId: "btc-local-bitcoin", toAmount: "0.00025" },
];

const methods = ["Wallet", "QR code", "Exchange"] as const;
type Method = (typeof methods)[number];

/** The ways to pay a link, on a chain of each family. */
export const payStory: Story = async (shop) => {
  const urls: string[] = [];
  for (const { tokenId, toAmount } of families) {
    const description = "Two tins of sencha, order 1042";
    urls.push((await createLink(shop, { tokenId, toAmount, description })).url);
  }
  return async (scene) => {
    const frames = await captureFamilies(scene, shop, urls);
    const pick = (index: number, method: Method): Frame => {
      const frame = frames[index]?.[method];
      if (frame === undefined) throw new Error(`family ${index} has no frame ${method}`);
      return frame;
    };
    const pickEach = (method: Method) => families.map((_family, index) => pick(index, method));
    return {
      pay: [pick(0, "Wallet"), pick(1, "QR code"), pick(2, "Wallet"), pick(3, "Exchange")],
      "pay-by-wallet": pickEach("Wallet"),
      "pay-by-qr-code": pickEach("QR code"),
      "pay-by-exchange": pickEach("Exchange"),
    };
  };
};

const captureFamilies = async (scene: Scene, shop: Shop, urls: readonly string[]) => {
  const frames: Record<Method, Frame>[] = [];
  for (const [index, { name }] of families.entries()) {
    frames.push(await captureMethods(scene, { shop, name, url: urls[index] ?? "" }));
  }
  return frames;
};

const captureMethods = async (
  { device, openTab, capture }: Scene,
  { shop, name, url }: { shop: Shop; name: string; url: string },
): Promise<Record<Method, Frame>> => {
  const tab = await openTab({ wallets: createWallets(shop, { device, name }) });
  await tab.goTo(url, "Payment method");
  const captureMethod = async (method: Method): Promise<Frame> => {
    await tab.page.getByRole("radio", { name: method, exact: true }).check();
    await tab.page.getByRole("region", { name: method }).waitFor();
    await waitUntil("the images are loaded", () => tab.page.evaluate(hasLoadedImages));
    return capture(tab, `${name}: ${method}`);
  };
  return {
    Wallet: await captureMethod("Wallet"),
    "QR code": await captureMethod("QR code"),
    Exchange: await captureMethod("Exchange"),
  };
};

const createWallets = (
  { nodeUrl }: Shop,
  { device, name }: Pick<Scene, "device"> & { name: string },
): InstalledWallet[] => {
  if (name === "Tron") {
    const tronLink = createRecordedWallet({ name: "TronLink", callMethod: () => false });
    return [{ ...tronLink, tron: { account: "", methods: [], isOld: false } }];
  }
  // On a phone, the page opens the wallet's app.
  if (device === "phone") return [];
  const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  return [createWallet({ nodeUrl, account, chainId: devnet.chainId })];
};

/** Hidden images are loaded only when they are shown. */
const hasLoadedImages = `[...document.images].every((image) =>
  image.getClientRects().length === 0 || (image.complete && image.naturalWidth > 0))`;
