import { expect } from "@jest/globals";
import { queryLinks, readFile, signUpShop, start } from "../rig/console-downloads.ts";
import { findAxeFaults } from "../rig/find-axe-faults.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

describe("a CSV of links", () => {
  test("is the server's own, byte for byte, and tells how many rows it has", async () => {
    const person = await signUpShop(system, "alma", 1_000);
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

  test("that broke off is none: it is said, and the next try is whole", async () => {
    const person = await signUpShop(system, "cora", 1_000);
    const { files, linkId, tab } = person;
    const setToken = (tokenId: string) =>
      queryLinks(system, "UPDATE links_api.links SET token_id = $2 WHERE id = $1", [
        linkId,
        tokenId,
      ]);
    await setToken("lost");
    await tab.click(start);
    await tab.see("The file broke off before its end, so nothing was saved.");
    expect(files).toEqual([]);
    expect(await findAxeFaults(tab.page)).toEqual([]);
    await setToken("usdc-base");
    expect((await readFile(person)).split("\r\n")).toHaveLength(1_004);
    expect(await tab.text()).not.toContain("broke off");
  });
});
