import { expect, test } from "@jest/globals";
import { listSetupSteps } from "./setup-steps.ts";

const nothing = { handle: false, wallet: false, link: false, key: false, endpoint: false };

test.each([
  [nothing, 0, "handle", false, false],
  [{ ...nothing, handle: true }, 1, "wallet", false, false],
  [{ ...nothing, handle: true, link: true }, 2, "wallet", false, false],
  [{ ...nothing, handle: true, wallet: true }, 2, "link", false, false],
  [{ ...nothing, handle: true, wallet: true, link: true }, 3, undefined, true, false],
  [{ ...nothing, key: true, endpoint: true }, 0, "handle", false, true],
  [{ handle: true, wallet: true, link: true, key: true, endpoint: true }, 3, undefined, true, true],
])(
  "after %j, %d shop steps are done and the next one is %s",
  (completed, doneCount, nextName, isShopDone, isDeveloperDone) => {
    const steps = listSetupSteps(completed);
    expect([steps.doneCount, steps.isShopDone, steps.isDeveloperDone]).toEqual([
      doneCount,
      isShopDone,
      isDeveloperDone,
    ]);
    expect(steps.shop.find(({ isNext }) => isNext)?.name).toBe(nextName);
  },
);
