import { expect } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import type { Tab } from "../rig/chromium.ts";
import { needingChromium } from "../rig/find-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = needingChromium();

const system = useConsole();

/** Somebody who is signed in, whose machine has an authenticator that knows its person by a finger. */
const signUpWithAuthenticator = async (handle: string) => {
  const { context, tab } = await system.signUp(handle);
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
    tab,
    verifyPerson: (isUserVerified: boolean) =>
      devTools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    credentials: async () =>
      (await devTools.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    /** Puts the counter back to what it was, as in a copy of the credential. */
    setSignCount: async (signCount: number) => {
      const { credentials } = await devTools.send("WebAuthn.getCredentials", { authenticatorId });
      const [used] = credentials;
      if (used === undefined) throw new Error("there is no passkey");
      const { credentialId } = used;
      const credential = { ...used, signCount };
      await devTools.send("WebAuthn.removeCredential", { authenticatorId, credentialId });
      await devTools.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
  };
};

const addPasskey = async (tab: Tab, name: string): Promise<void> => {
  await tab.goTo(`${system.origin}/console/account/sign-in`);
  await tab.type("Add a passkey", name);
  await tab.click("Add a passkey");
  await tab.see("Rename");
  expect(await tab.text()).toContain(name);
};

const signOut = async (tab: Tab): Promise<void> => {
  await tab.click("Sign out");
  await tab.see("You are not signed in.");
};

describe("a passkey in a real Chromium", () => {
  test("is added, named, signs in, and is no longer there once another one is left", async () => {
    const { tab, credentials } = await signUpWithAuthenticator("paula");
    await addPasskey(tab, "my laptop");
    const [made] = await credentials();
    expect(made).toMatchObject({ isResidentCredential: true, rpId: "localhost" });
    await tab.click("Rename: my laptop");
    await tab.type("Rename", "my old laptop");
    await tab.click("Rename");
    await tab.see("my old laptop");
    await signOut(tab);
    await tab.click("Sign in with a passkey");
    await tab.see("Signed in as paula");
    await tab.goTo(`${system.origin}/console/account/sessions`);
    await tab.see("Passkey");
    await tab.goTo(`${system.origin}/console/account/sign-in`);
    await tab.click("Remove: my old laptop");
    await tab.see("This is the account's last way in");
    await tab.see("my old laptop");
  });

  test("proves presence, and what waited for that goes on", async () => {
    const { tab } = await signUpWithAuthenticator("petra");
    await addPasskey(tab, "my phone");
    system.clock.advance(presenceMsMax);
    await tab.goTo(`${system.origin}/console/keys`);
    await tab.type("Create API key", "shop");
    await tab.click("Create API key");
    await tab.see("Is it still you?");
    expect(await tab.text()).not.toContain("Your new API key");
    await tab.click("Prove by a passkey");
    await tab.see("Your new API key");
    await tab.see("Signed in as petra");
    expect(await tab.text()).not.toContain("Is it still you?");
  });

  test("whose person is not verified signs nobody in", async () => {
    const { tab, verifyPerson } = await signUpWithAuthenticator("phoebe");
    await addPasskey(tab, "my key");
    await signOut(tab);
    await verifyPerson(false);
    await tab.click("Sign in with a passkey");
    await tab.see("No passkey answered.");
    await verifyPerson(true);
    await tab.click("Sign in with a passkey");
    await tab.see("Signed in as phoebe");
  });

  test("that was copied is refused by its counter", async () => {
    const { tab, credentials, setSignCount } = await signUpWithAuthenticator("polly");
    await addPasskey(tab, "my key");
    const [copy] = await credentials();
    for (let count = 0; count < 3; count += 1) {
      await signOut(tab);
      await tab.click("Sign in with a passkey");
      await tab.see("Signed in as polly");
    }
    const [used] = await credentials();
    expect(used?.signCount).toBeGreaterThan((copy?.signCount ?? 0) + 1);
    await signOut(tab);
    await setSignCount(copy?.signCount ?? 0);
    await tab.click("Sign in with a passkey");
    await tab.see("The passkey's answer is not valid");
  });

  test("that this machine has already is not made twice", async () => {
    const { tab, credentials } = await signUpWithAuthenticator("prue");
    await addPasskey(tab, "once");
    await tab.type("Add a passkey", "twice");
    await tab.click("Add a passkey");
    await tab.see("This device has a passkey here already.");
    expect(await credentials()).toHaveLength(1);
  });
});
