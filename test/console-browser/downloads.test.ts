import { expect } from "@jest/globals";
import {
  queryLinksDatabase,
  downloadFile,
  signUpWithLinks,
  downloadButtonName,
} from "../rig/console-downloads.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

describe("a CSV of links", () => {
  test("matches the server's file byte for byte and shows its number of rows", async () => {
    const user = await signUpWithLinks(system, "alma", 1_000);
    const { context, violations, files, tab } = user;
    const response = await context.request.get(`${system.origin}/console/api/payment-links.csv`);
    expect(await downloadFile(user)).toBe(await response.text());
    await tab.waitForText("Download complete. Rows: 1,001.");
    expect(files).toEqual(["payment-links.csv"]);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    const secondDownload = tab.page.waitForEvent("download");
    await tab.page.getByRole("link", { name: "Save again" }).click();
    expect((await secondDownload).suggestedFilename()).toBe("payment-links.csv");
    expect(violations).toEqual([]);
  });

  test("that is interrupted is rejected with a message, and the next attempt is complete", async () => {
    const user = await signUpWithLinks(system, "cora", 1_000);
    const { files, linkId, tab } = user;
    const setTokenId = (tokenId: string) =>
      queryLinksDatabase(system, "UPDATE links_api.links SET token_id = $2 WHERE id = $1", [
        linkId,
        tokenId,
      ]);
    await setTokenId("lost");
    await tab.click(downloadButtonName);
    await tab.waitForText("The download was interrupted, so nothing was saved.");
    expect(files).toEqual([]);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await setTokenId("usdc-base");
    expect((await downloadFile(user)).split("\r\n")).toHaveLength(1_004);
    expect(await tab.readText()).not.toContain("interrupted");
  });
});
