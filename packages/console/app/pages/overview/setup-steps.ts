/** The steps that a shop needs before its first payment, in order. */
const shopSteps = [
  { name: "handle", to: "/account/profile" },
  { name: "wallet", to: "/account/wallets" },
  { name: "link", to: "/links/new" },
] as const;

/** Optional steps for a shop with its own software. */
const developerSteps = [
  { name: "key", to: "/keys" },
  { name: "endpoint", to: "/webhooks" },
] as const;

type ShopStepName = (typeof shopSteps)[number]["name"];
type DeveloperStepName = (typeof developerSteps)[number]["name"];

/** A step of the setup. `isNext` is true for the first one that is not done. */
export type SetupStep<Name extends string> = {
  name: Name;
  to: string;
  isDone: boolean;
  isNext: boolean;
};

export type SetupSteps = {
  shop: SetupStep<ShopStepName>[];
  developer: SetupStep<DeveloperStepName>[];
  doneCount: number;
  isShopDone: boolean;
  isDeveloperDone: boolean;
};

/** Returns the steps with their state. */
export const listSetupSteps = (
  completed: Readonly<Record<ShopStepName | DeveloperStepName, boolean>>,
): SetupSteps => {
  const next = shopSteps.find(({ name }) => !completed[name]);
  const shop = shopSteps.map(({ name, to }) => ({
    name,
    to,
    isDone: completed[name],
    isNext: name === next?.name,
  }));
  const developer = developerSteps.map(({ name, to }) => ({
    name,
    to,
    isDone: completed[name],
    isNext: false,
  }));
  const doneCount = shop.filter(({ isDone }) => isDone).length;
  const isDeveloperDone = developer.every(({ isDone }) => isDone);
  return { shop, developer, doneCount, isShopDone: next === undefined, isDeveloperDone };
};
