import { expect } from "@jest/globals";
import { createRig } from "@payment-links/auth-keys/testing/create-rig";
import { startSmtpServer } from "@payment-links/auth-keys/testing/start-smtp-server";
import { createCatalogue } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useOwnCheckout } from "../rig/use-checkout.ts";

const { describe, test } = requireChromium();

const checkout = useOwnCheckout({
  sendReceipt: (receipt) => authKeys.service.sendReceipt(receipt),
});
const smtp = useRig(startSmtpServer);
const authKeys = useRig(() =>
  createRig({ email: smtp.config, catalogue: createCatalogue(checkout.chain.catalogueData) }),
);

describe("a payer of a link", () => {
  test("types an address on the receipt page and gets the receipt in the page's language (rules MAIL-8 and MAIL-9)", async () => {
    const payer = await checkout.createPayer(
      { toAmount: "25", description: "Bestellung 7", owner: { username: "Teeladen" } },
      { locale: "de-DE", viewport: { width: 320, height: 568 } },
    );
    const { chain, system } = checkout;
    const transactionHash = await chain.pay({ ...payer.link, amount: 25_000_000n });
    await chain.mine(3);
    await system.waitForLink(payer.link.id, ({ status }) => status === "completed");
    await payer.open("Beleg ansehen");
    const { page } = payer;
    const href = await page.getByRole("link", { name: "Beleg ansehen" }).getAttribute("href");
    const { pathname } = new URL(href ?? "");
    await payer.goTo(`${system.publicUrl}${pathname}`, "Beleg per E-Mail senden");
    await page.getByText("Beleg per E-Mail senden").click();
    const input = page.getByLabel("E-Mail-Adresse");
    await input.fill("payer@example.com");
    expect(await findAxeViolations(page)).toEqual([]);

    smtp.rejection.reply = { code: 550, text: "no such mailbox" };
    await payer.click("Beleg senden", "Der Mailserver hat diese Adresse abgelehnt.");
    smtp.rejection.reply = undefined;
    expect(await input.inputValue()).toBe("payer@example.com");
    expect(await findAxeViolations(page)).toEqual([]);

    await payer.click("Beleg senden", "Beleg gesendet.");
    expect(new URL(page.url()).pathname).toBe(pathname);
    expect(await findAxeViolations(page)).toEqual([]);
    const [email, ...otherEmails] = smtp.emails;
    expect([email?.to, otherEmails]).toEqual([["payer@example.com"], []]);
    const message = email?.message ?? "";
    for (const text of [
      "Sie haben 25 USDC an Teeladen gezahlt.",
      "Beschreibung: Bestellung 7",
      `Transaktions-ID: ${transactionHash}`,
      `https://pay.example${pathname}`,
    ]) {
      expect(message).toContain(text);
    }
  });
});
