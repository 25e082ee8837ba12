import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { getCookies, createRig, summarizeResponse } from "../testing/create-rig.ts";

const sessionPath = "/console/api/session";
const linkOwnerPath = `${sessionPath}/link`;
const formPath = `${sessionPath}/form`;
const minuteMs = 60_000;

const rig = useRig(createRig);

type FormOptions = { cookie?: string; headers?: Record<string, string> };

const sendForm = (fields: Record<string, string>, { cookie, headers }: FormOptions = {}) =>
  rig.call("POST", formPath, {
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    ...(cookie === undefined ? {} : { cookie }),
  });

/** Returns the visible text of a page, with normalized whitespace and without `<bdi>` tags. */
const getVisibleText = ({ text }: { text: string }) =>
  text.replaceAll(/<\/?bdi>/g, "").replaceAll(/\s+/g, " ");

const getSessionHandle = async (cookie: string) =>
  (await rig.call("GET", sessionPath, { cookie })).body["handle"];

describe("POST /console/api/session/link", () => {
  test("returns the link's account any number of times without consuming the link (rule CALLER-10)", async () => {
    const { token, userId } = await rig.createAccount({ handle: "asked", username: "As Ked" });
    for (let count = 0; count < 5; count += 1) {
      const response = await rig.call("POST", linkOwnerPath, { body: { token } });
      expect([response.status, response.body]).toEqual([
        200,
        { handle: "asked", username: "As Ked" },
      ]);
      expect(response.headers.get("set-cookie")).toBeNull();
    }
    expect(await rig.readAudit(userId)).toEqual(["account.created", "sign_in_link.made"]);
    expect(await getSessionHandle(await rig.signIn(token))).toBe("asked");
  });

  test("rejects a used, expired or invented link", async () => {
    const usedAccount = await rig.createAccount();
    await rig.signIn(usedAccount.token);
    const expiredAccount = await rig.createAccount();
    rig.clock.advance(15 * minuteMs);
    for (const token of [usedAccount.token, expiredAccount.token, "", "A".repeat(43)]) {
      const response = await rig.call("POST", linkOwnerPath, { body: { token } });
      expect(summarizeResponse(response)).toBe("401 INVALID_SIGN_IN_TOKEN");
    }
  });

  test("rejects a cross-site request", async () => {
    const { token } = await rig.createAccount();
    const headers = { "sec-fetch-site": "cross-site" };
    const response = await rig.call("POST", linkOwnerPath, { body: { token }, headers });
    expect(summarizeResponse(response)).toBe("403 CROSS_SITE_REQUEST");
  });
});

describe("POST /console/api/session/form, for browsers without JavaScript", () => {
  test("shows the link's account, and signs in only after the confirmation", async () => {
    const { token } = await rig.createAccount({ handle: "plain", username: "<b>Plain</b>" });
    const link = `http://127.0.0.1:8080/console/sign-in#token=${token}`;
    const confirmationPage = await sendForm({ link });
    expect([confirmationPage.status, confirmationPage.headers.get("set-cookie")]).toEqual([
      200,
      null,
    ]);
    expect(confirmationPage.headers.get("cache-control")).toBe("no-store");
    expect(confirmationPage.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(getVisibleText(confirmationPage)).toContain(
      "signs you in as &lt;b&gt;Plain&lt;/b&gt; (@plain)",
    );
    expect(confirmationPage.text).toContain(`<input type="hidden" name="link" value="${token}" />`);

    const confirmResponse = await sendForm({ link: token, confirmed: "yes" });
    expect(confirmResponse.status).toBe(303);
    expect(confirmResponse.headers.get("location")).toBe("http://127.0.0.1:8080/console");
    expect(await getSessionHandle(getCookies(confirmResponse.headers))).toBe("plain");
    const secondResponse = await sendForm({ link: token, confirmed: "yes" });
    expect([secondResponse.status, secondResponse.headers.get("set-cookie")]).toEqual([401, null]);
    expect(secondResponse.text).toContain("This sign-in link is invalid or was already used.");
  });

  test("warns which user the confirmation will sign out, and keeps that session until then (rule CALLER-10)", async () => {
    const signedInUser = await rig.signUp({ username: "Bob" });
    const { token } = await rig.createAccount({ username: "Mallory" });
    const confirmationPage = await sendForm({ link: token }, { cookie: signedInUser.cookie });
    expect(getVisibleText(confirmationPage)).toContain(
      "You are signed in as Bob. Signing in as Mallory signs Bob out.",
    );
    expect((await rig.call("GET", sessionPath, { cookie: signedInUser.cookie })).status).toBe(200);
  });

  test("ignores the form after its first 4 KiB, because parsing more is expensive", async () => {
    const { token } = await rig.createAccount({});
    const accepted = await sendForm({ padding: "x".repeat(3_000), link: token });
    const rejected = await sendForm({ padding: "x".repeat(5_000), link: token });
    expect([accepted.status, rejected.status]).toEqual([200, 401]);
  });

  test("responds in German, including errors, to a browser that requests it (rule API-28)", async () => {
    const headers = { "accept-language": "de-AT,de;q=0.9,en;q=0.8" };
    const signedInUser = await rig.signUp({ username: "Bob" });
    const { token } = await rig.createAccount({ handle: "erika", username: "Erika" });
    const confirmationPage = await sendForm(
      { link: token },
      { cookie: signedInUser.cookie, headers },
    );
    for (const expectedText of [
      '<html lang="de">',
      "<title>Anmelden · Payment Links</title>",
      "Dieser Link meldet Sie als Erika (@erika) an.",
      "Sie sind als Bob angemeldet. Wenn Sie sich als Erika anmelden, wird Bob abgemeldet.",
      ">Als Erika anmelden</button>",
      ">Abbrechen</a>",
    ]) {
      expect(getVisibleText(confirmationPage)).toContain(expectedText);
    }
    expect(confirmationPage.text).toContain("<bdi>Erika</bdi>");
    expect(confirmationPage.headers.get("vary")).toBe("Accept-Language");
    const rejected = await sendForm({ link: "none", confirmed: "yes" }, { headers });
    expect(rejected.status).toBe(401);
    expect(rejected.text).toContain('<html lang="de">');
    expect(rejected.text).toContain("Dieser Anmeldelink ist ungültig oder wurde schon benutzt.");
    expect(rejected.text).not.toContain("is invalid");
    const frenchResponse = await sendForm(
      { link: token },
      { headers: { "accept-language": "fr, xx" } },
    );
    expect(frenchResponse.text).toContain('<html lang="en">');
  });

  test.each([{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }])(
    "rejects a request with %j, even with the confirmation",
    async (headers) => {
      const { token } = await rig.createAccount();
      const response = await sendForm({ link: token, confirmed: "yes" }, { headers });
      expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
      expect((await rig.call("POST", linkOwnerPath, { body: { token } })).status).toBe(200);
    },
  );

  test("responds 405 to GET and HEAD, as sent by a link scanner", async () => {
    const { token } = await rig.createAccount();
    for (const method of ["GET", "HEAD"]) {
      const query = `?token=${token}&link=${token}&confirmed=yes`;
      expect((await rig.call(method, `${formPath}${query}`)).status).toBe(405);
    }
    expect((await rig.call("POST", linkOwnerPath, { body: { token } })).status).toBe(200);
  });
});
