import { afterAll, beforeAll, expect } from "@jest/globals";
import { createEmailJob } from "@payment-links/auth-keys/testing/create-email-rig";
import {
  type SmtpRig,
  findConfirmationToken,
  findUnsubscribePath,
  startSmtpServer,
} from "@payment-links/auth-keys/testing/start-smtp-server";
import { createConsole } from "../rig/create-console.ts";
import { connectChromium } from "../rig/chromium.ts";
import { findAxeViolations } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import type { Console } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

describe("the notification settings", () => {
  let smtp: SmtpRig;
  let system: Console;
  beforeAll(async () => {
    smtp = await startSmtpServer();
    system = await createConsole(connectChromium, {
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      SMTP_FROM: "Example Shop <no-reply@shop.example>",
    });
  });
  afterAll(async () => {
    const violations = await system?.closeUsers();
    await system?.close();
    await smtp?.close();
    expect(violations).toEqual([]);
  });

  test("take an address, confirm it with the link from the email, and switch kinds off here and by an unsubscribe link (rules MAIL-2, MAIL-3 and MAIL-7)", async () => {
    const { goTo, tab, call } = await system.signUp("mara", {
      viewport: { width: 320, height: 640 },
    });
    await goTo("/account/notifications", "Add an email address to get notifications.");
    await tab.page.getByLabel("Email address").fill("mara@example.com");
    await tab.click("Add address", "Unconfirmed");
    expect(await findAxeViolations(tab.page)).toEqual([]);

    const { job } = createEmailJob(system.authKeysContext, smtp.config);
    await job.run();
    const [email] = smtp.emails;
    expect(email?.to).toEqual(["mara@example.com"]);
    const token = email === undefined ? "" : findConfirmationToken(email);
    expect(email?.message).toContain(
      `${system.origin}/console/account/notifications#confirm=${token}`,
    );
    await tab.page.goto("about:blank");
    await goTo(
      `/account/notifications#confirm=${token}`,
      "Send notifications to mara@example.com?",
    );
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.click("Confirm address", "Confirmed");
    expect(tab.page.url()).toBe(`${system.origin}/console/account/notifications`);

    await tab.page.getByLabel("New sign-ins").uncheck();
    await tab.click("Save notifications", "Saved");
    const settings: unknown = await call("get", "account/notifications");
    expect(settings).toMatchObject({
      address: "mara@example.com",
      pendingAddress: null,
      kinds: { new_sign_in: false, new_wallet: true },
    });
    expect(await findAxeViolations(tab.page)).toEqual([]);

    await call("post", "wallets", {
      walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      tokenId: "usdc-base",
    });
    await job.run();
    const walletEmail = smtp.emails.at(-1);
    const unsubscribePath = walletEmail === undefined ? "" : findUnsubscribePath(walletEmail);
    await tab.goTo(`${system.origin}${unsubscribePath}`, "New wallets");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.click("Unsubscribe", "You will no longer get emails about this:");
    expect(await findAxeViolations(tab.page)).toEqual([]);
    expect(await call("get", "account/notifications")).toMatchObject({
      kinds: { new_wallet: false },
    });
  });
});
