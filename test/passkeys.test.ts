import { afterAll, beforeAll, expect } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { type Chromium, type Tab, connectChromium } from "./rig/chromium.ts";
import { call } from "./rig/client.ts";
import { needingChromium } from "./rig/find-chromium.ts";
import { findFreePorts } from "./rig/free-port.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

const { describe, test } = needingChromium();

type System = Awaited<ReturnType<typeof openServicesInProcess>>;
let system: System;
let chromium: Chromium;
let origin: string;

beforeAll(async () => {
  const [port = 0] = await findFreePorts(1);
  origin = `http://localhost:${port}`;
  system = await openServicesInProcess({ baseUrl: origin });
  chromium = await connectChromium();
});
afterAll(async () => {
  await chromium?.close();
  await system?.close();
});

/** A tab whose machine has an authenticator that knows its person by a finger. */
const openTabWithAuthenticator = async () => {
  const { context, openTab } = await chromium.openPerson({ origin });
  const tab = await openTab();
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

const makeSignInLink = async (path: string, body: object): Promise<string> => {
  const answer = await call(`${system.internalUrl}/internal/${path}`, { method: "POST", body });
  return String(answer.body["signInUrl"]);
};

/** Signs a new account in by an operator's link, as its person does. */
const signUp = async (tab: Tab, handle: string): Promise<void> => {
  const link = await makeSignInLink("accounts", { handle, username: handle });
  await tab.goTo(link);
  await tab.click(`Sign in as ${handle}`);
  await tab.see(`Signed in as ${handle}`);
};

const addPasskey = async (tab: Tab, name: string): Promise<void> => {
  await tab.goTo(`${origin}/console/account/sign-in`);
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
    const { tab, credentials } = await openTabWithAuthenticator();
    await signUp(tab, "ada");
    await addPasskey(tab, "my laptop");
    const [made] = await credentials();
    expect(made).toMatchObject({ isResidentCredential: true, rpId: "localhost" });
    await tab.click("Rename: my laptop");
    await tab.type("Rename", "my old laptop");
    await tab.click("Rename");
    await tab.see("my old laptop");
    await signOut(tab);
    await tab.click("Sign in with a passkey");
    await tab.see("Signed in as ada");
    await tab.goTo(`${origin}/console/account/sessions`);
    await tab.see("Passkey");
    await tab.goTo(`${origin}/console/account/sign-in`);
    await tab.click("Remove: my old laptop");
    await tab.see("This is the account's last way in");
    await tab.see("my old laptop");
  });

  test("proves presence, and what waited for that goes on", async () => {
    const { tab } = await openTabWithAuthenticator();
    await signUp(tab, "bea");
    await addPasskey(tab, "my phone");
    system.clock.advance(presenceMsMax);
    await tab.goTo(`${origin}/console/keys`);
    await tab.type("Create API key", "shop");
    await tab.click("Create API key");
    await tab.see("Is it still you?");
    expect(await tab.text()).not.toContain("Your new API key");
    await tab.click("Prove by a passkey");
    await tab.see("Your new API key");
    await tab.see("Signed in as bea");
    expect(await tab.text()).not.toContain("Is it still you?");
  });

  test("whose person is not verified signs nobody in", async () => {
    const { tab, verifyPerson } = await openTabWithAuthenticator();
    await signUp(tab, "cleo");
    await addPasskey(tab, "my key");
    await signOut(tab);
    await verifyPerson(false);
    await tab.click("Sign in with a passkey");
    await tab.see("No passkey answered.");
    await verifyPerson(true);
    await tab.click("Sign in with a passkey");
    await tab.see("Signed in as cleo");
  });

  test("that was copied is refused by its counter", async () => {
    const { tab, credentials, setSignCount } = await openTabWithAuthenticator();
    await signUp(tab, "dana");
    await addPasskey(tab, "my key");
    const [copy] = await credentials();
    for (let count = 0; count < 3; count += 1) {
      await signOut(tab);
      await tab.click("Sign in with a passkey");
      await tab.see("Signed in as dana");
    }
    const [used] = await credentials();
    expect(used?.signCount).toBeGreaterThan((copy?.signCount ?? 0) + 1);
    await signOut(tab);
    await setSignCount(copy?.signCount ?? 0);
    await tab.click("Sign in with a passkey");
    await tab.see("The passkey's answer is not valid");
  });

  test("that this machine has already is not made twice", async () => {
    const { tab, credentials } = await openTabWithAuthenticator();
    await signUp(tab, "elif");
    await addPasskey(tab, "once");
    await tab.type("Add a passkey", "twice");
    await tab.click("Add a passkey");
    await tab.see("This device has a passkey here already.");
    expect(await credentials()).toHaveLength(1);
  });
});
