import { expect } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import type { BrowserUser, Tab } from "../rig/chromium.ts";
import { createConsoleWallet } from "../rig/console-wallet.ts";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";
import { walkByKeyboard } from "../rig/walk-by-keyboard.ts";

const { describe, test } = requireChromium();

const system = useConsole();

/** Adds a virtual authenticator that verifies the user by fingerprint. */
const addAuthenticator = async ({ context }: Pick<BrowserUser, "context">, tab: Tab) => {
  const devTools = await context.newCDPSession(tab.page);
  await devTools.send("WebAuthn.enable");
  const { authenticatorId } = await devTools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return {
    setUserVerified: (isUserVerified: boolean) =>
      devTools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    listCredentials: async () =>
      (await devTools.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    /** Resets the signature counter to an earlier value, as if the credential had been cloned. */
    setSignCount: async (signCount: number) => {
      const { credentials } = await devTools.send("WebAuthn.getCredentials", { authenticatorId });
      const [usedPasskey] = credentials;
      if (usedPasskey === undefined) throw new Error("the authenticator has no passkey");
      const { credentialId } = usedPasskey;
      const credential = { ...usedPasskey, signCount };
      await devTools.send("WebAuthn.removeCredential", { authenticatorId, credentialId });
      await devTools.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
  };
};

/** Signs up a user with a virtual authenticator. */
const signUpWithAuthenticator = async (handle: string) => {
  const user = await system.signUp(handle);
  return { ...(await addAuthenticator(user, user.tab)), tab: user.tab };
};

const addPasskey = async (tab: Tab, name: string): Promise<void> => {
  await tab.goTo(`${system.origin}/console/account/sign-in`);
  await tab.click("Add passkey");
  await tab.type("Add passkey", name);
  await tab.clickInDialog("Add passkey", "Never used");
  expect(await tab.readText()).toContain(name);
};

const signOut = async (tab: Tab): Promise<void> => {
  await tab.chooseInMenu(/^Signed in as/, "Sign out");
  await tab.waitForText("Sign in to Payment Links");
};

describe("a passkey in a real Chromium", () => {
  test("can be added, renamed and used to sign in, but not removed as the last sign-in method", async () => {
    const { tab, listCredentials } = await signUpWithAuthenticator("paula");
    await addPasskey(tab, "my laptop");
    const [createdPasskey] = await listCredentials();
    expect(createdPasskey).toMatchObject({ isResidentCredential: true, rpId: "localhost" });
    await tab.chooseInMenu("Actions: my laptop", "Rename");
    await tab.type("Rename", "my old laptop");
    await tab.clickInDialog("Rename", "my old laptop");
    await signOut(tab);
    await tab.click("Sign in with passkey", "Signed in as paula");
    await tab.goTo(`${system.origin}/console/account/sessions`, "Passkey");
    await tab.goTo(`${system.origin}/console/account/sign-in`);
    await tab.chooseInMenu("Actions: my old laptop", "Remove");
    await tab.clickInDialog("Remove", "This is the account's last sign-in method");
    await tab.clickInDialog("Cancel");
    await tab.waitForText("my old laptop");
  });

  test("proves presence, and the pending call continues", async () => {
    const { tab } = await signUpWithAuthenticator("petra");
    await addPasskey(tab, "my phone");
    system.clock.advance(presenceMsMax);
    await tab.goTo(`${system.origin}/console/keys`);
    await tab.click("Create API key");
    await tab.type("Create API key", "shop");
    await tab.clickInDialog("Create API key", "Confirm it's you");
    expect(await tab.readText()).not.toContain("Your new API key");
    await tab.click("Confirm with passkey", "Your new API key");
    await tab.waitForText("Signed in as petra");
    expect(await tab.readText()).not.toContain("Confirm it's you");
  });

  test("without user verification cannot sign in", async () => {
    const { tab, setUserVerified } = await signUpWithAuthenticator("phoebe");
    await addPasskey(tab, "my key");
    await signOut(tab);
    await setUserVerified(false);
    await tab.click("Sign in with passkey", "No passkey was used.");
    await setUserVerified(true);
    await tab.click("Sign in with passkey", "Signed in as phoebe");
  });

  test("that was copied is rejected because of its counter", async () => {
    const { tab, listCredentials, setSignCount } = await signUpWithAuthenticator("polly");
    await addPasskey(tab, "my key");
    const [copiedPasskey] = await listCredentials();
    for (let count = 0; count < 3; count += 1) {
      await signOut(tab);
      await tab.click("Sign in with passkey", "Signed in as polly");
    }
    const [usedPasskey] = await listCredentials();
    expect(usedPasskey?.signCount).toBeGreaterThan((copiedPasskey?.signCount ?? 0) + 1);
    await signOut(tab);
    await setSignCount(copiedPasskey?.signCount ?? 0);
    await tab.click("Sign in with passkey", "The passkey's response is invalid");
  });

  test("that this machine already has is not created twice", async () => {
    const { tab, listCredentials } = await signUpWithAuthenticator("prue");
    await addPasskey(tab, "once");
    await tab.click("Add passkey");
    await tab.type("Add passkey", "twice");
    await tab.clickInDialog("Add passkey", "This device already has a passkey for this account.");
    expect(await listCredentials()).toHaveLength(1);
  });
});

describe("a user who can only sign in with the operator's links", () => {
  const notice = "Without a passkey, you need a new link from your operator";

  test("is asked to add a passkey, and later confirms a change with it (rule CALLER-45)", async () => {
    const user = await system.createUser();
    const tab = await user.openTab();
    const { listCredentials } = await addAuthenticator(user, tab);
    await tab.goTo(await system.createSignInUrl("pia"));
    await tab.click("Sign in as pia", "Add a passkey");
    const heading = tab.page.getByRole("heading", { name: "Add a passkey" });
    expect(await heading.evaluate((element) => element.matches(":focus"))).toBe(true);
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    expect(await walkByKeyboard(tab.page)).toEqual([]);
    await tab.page.getByRole("button", { name: "Add passkey" }).focus();
    await tab.page.keyboard.press("Enter");
    await tab.waitForText("Signed in as pia");
    await tab.waitForText("Finish setup");
    expect(await tab.readText()).not.toContain(notice);
    expect(await listCredentials()).toHaveLength(1);
    system.clock.advance(presenceMsMax);
    await tab.goTo(`${system.origin}/console/keys`);
    await tab.click("Create API key");
    await tab.type("Create API key", "shop");
    await tab.clickInDialog("Create API key", "Confirm it's you");
    await tab.click("Confirm with passkey", "Your new API key");
    await tab.goTo(`${system.origin}/console/account/sign-in`, "Chrome on Linux");
    await tab.goTo(await system.createNewSignInUrl("pia"));
    await tab.click("Sign in as pia", "Signed in as pia");
  });

  test("gets a passkey with the name of the device, even if the sessions arrive last", async () => {
    const user = await system.createUser();
    const sessionsRequest = Promise.withResolvers<void>();
    await user.context.route("**/console/api/sessions", async (route) => {
      await sessionsRequest.promise;
      await route.continue();
    });
    const tab = await user.openTab();
    await addAuthenticator(user, tab);
    await tab.goTo(await system.createSignInUrl("pina"));
    const responses = ["session/methods", "passkeys", "identities"].map((path) =>
      tab.page.waitForResponse(`**/console/api/${path}`),
    );
    await tab.click("Sign in as pina");
    for (const response of await Promise.all(responses)) await response.finished();
    await tab.waitForFrame();
    const heading = tab.page.getByRole("heading", { name: "Add a passkey" });
    expect(await heading.isVisible()).toBe(false);
    sessionsRequest.resolve();
    await heading.waitFor();
    await tab.click("Add passkey", "Signed in as pina");
    await tab.goTo(`${system.origin}/console/account/sign-in`, "Chrome on Linux");
  });

  test("is not asked again after Not now, but reminded (rule CALLER-45)", async () => {
    const user = await system.createUser({
      locale: "de-DE",
      viewport: { width: 320, height: 640 },
    });
    const tab = await user.openTab();
    await tab.goTo(await system.createSignInUrl("pavel"));
    await tab.click("Als pavel anmelden", "Passkey hinzufügen");
    await tab.waitForText("ohne einen neuen Link vom Betreiber");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await tab.click("Jetzt nicht", "Ohne Passkey brauchen Sie");
    await tab.page.getByRole("link", { name: "Passkey hinzufügen" }).click();
    await tab.waitForText("Ohne Passkey brauchen Sie");
    await tab.waitForText("Keine Passkeys");
    await tab.goTo(`${system.origin}/console/account`, "Ohne Passkey brauchen Sie");
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await tab.goTo(await system.createNewSignInUrl("pavel"));
    await tab.click("Als pavel anmelden", "Angemeldet als pavel");
  });

  test("gets in without a question if the service does not list the passkeys", async () => {
    const user = await system.createUser();
    await user.context.route("**/console/api/passkeys", (route) =>
      route.fulfill({ status: 404, json: { errors: [{ code: "NOT_FOUND", message: "" }] } }),
    );
    const tab = await user.openTab();
    await tab.goTo(await system.createSignInUrl("pelle"));
    await tab.click("Sign in as pelle", "Signed in as pelle");
  });

  test("is never asked once an Ethereum address can sign in (rule CALLER-45)", async () => {
    const user = await system.signUp("percy");
    await createConsoleWallet(user.context);
    await user.goTo("/account/sign-in", notice);
    await user.tab.click("Link Ethereum address", "Linked");
    await user.tab.goTo(await system.createNewSignInUrl("percy"));
    await user.tab.click("Sign in as percy", "Finish setup");
    expect(await user.tab.readText()).not.toContain(notice);
  });
});
