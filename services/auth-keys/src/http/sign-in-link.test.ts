import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { cookieOf, openRig, refusalOf } from "../testing/open-rig.ts";

const session = "/console/api/session";
const ask = `${session}/link`;
const byForm = `${session}/form`;
const minuteMs = 60_000;

const rig = useRig(openRig);

type Sent = { cookie?: string; headers?: Record<string, string> };

const sendForm = (fields: Record<string, string>, { cookie, headers }: Sent = {}) =>
  rig.call("POST", byForm, {
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    ...(cookie === undefined ? {} : { cookie }),
  });

/** What a page says, however its lines break, and wherever a name is isolated. */
const wordsOf = ({ text }: { text: string }) =>
  text.replaceAll(/<\/?bdi>/g, "").replaceAll(/\s+/g, " ");

const whoIs = async (cookie: string) => (await rig.call("GET", session, { cookie })).body["handle"];

describe("POST /console/api/session/link", () => {
  test("tells whose link it is as often as it is asked, and uses nothing up (rule CALLER-10)", async () => {
    const { token, userId } = await rig.makeAccount({ handle: "asked", username: "As Ked" });
    for (let count = 0; count < 5; count += 1) {
      const answer = await rig.call("POST", ask, { body: { token } });
      expect([answer.status, answer.body]).toEqual([200, { handle: "asked", username: "As Ked" }]);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
    expect(await rig.readAudit(userId)).toEqual(["account.created", "sign_in_link.made"]);
    expect(await whoIs(await rig.signIn(token))).toBe("asked");
  });

  test("knows no link that was used, has ended, or never was", async () => {
    const used = await rig.makeAccount();
    await rig.signIn(used.token);
    const late = await rig.makeAccount();
    rig.clock.advance(15 * minuteMs);
    for (const token of [used.token, late.token, "", "A".repeat(43)]) {
      const answer = await rig.call("POST", ask, { body: { token } });
      expect(refusalOf(answer)).toBe("401 INVALID_SIGN_IN_TOKEN");
    }
  });

  test("is refused to another site's page", async () => {
    const { token } = await rig.makeAccount();
    const headers = { "sec-fetch-site": "cross-site" };
    const answer = await rig.call("POST", ask, { body: { token }, headers });
    expect(refusalOf(answer)).toBe("403 CROSS_SITE_REQUEST");
  });
});

describe("POST /console/api/session/form, for browsers without script", () => {
  test("given a link, shows whose it is; given the click, signs in and goes to the console", async () => {
    const { token } = await rig.makeAccount({ handle: "plain", username: "<b>Plain</b>" });
    const link = `http://127.0.0.1:8080/console/sign-in#token=${token}`;
    const shown = await sendForm({ link });
    expect([shown.status, shown.headers.get("set-cookie")]).toEqual([200, null]);
    expect(shown.headers.get("cache-control")).toBe("no-store");
    expect(shown.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(wordsOf(shown)).toContain("signs you in as &lt;b&gt;Plain&lt;/b&gt; (@plain)");
    expect(shown.text).toContain(`<input type="hidden" name="link" value="${token}" />`);

    const clicked = await sendForm({ link: token, confirmed: "yes" });
    expect(clicked.status).toBe(303);
    expect(clicked.headers.get("location")).toBe("http://127.0.0.1:8080/console");
    expect(await whoIs(cookieOf(clicked.headers))).toBe("plain");
    const again = await sendForm({ link: token, confirmed: "yes" });
    expect([again.status, again.headers.get("set-cookie")]).toEqual([401, null]);
    expect(again.text).toContain("The sign-in link is not valid or has been used.");
  });

  test("a browser that is signed in is told whom the click signs out, and stays until then (rule CALLER-10)", async () => {
    const bob = await rig.signUp({ username: "Bob" });
    const { token } = await rig.makeAccount({ username: "Mallory" });
    const shown = await sendForm({ link: token }, { cookie: bob.cookie });
    expect(wordsOf(shown)).toContain(
      "You are signed in as Bob. Signing in as Mallory signs Bob out.",
    );
    expect((await rig.call("GET", session, { cookie: bob.cookie })).status).toBe(200);
  });

  test("speaks German to a browser that asks for it, and says in it what a refusal means (rule API-28)", async () => {
    const headers = { "accept-language": "de-AT,de;q=0.9,en;q=0.8" };
    const bob = await rig.signUp({ username: "Bob" });
    const { token } = await rig.makeAccount({ handle: "erika", username: "Erika" });
    const shown = await sendForm({ link: token }, { cookie: bob.cookie, headers });
    for (const words of [
      '<html lang="de">',
      "<title>Anmelden · Payment Links</title>",
      "Mit diesem Link melden Sie sich als Erika (@erika) an.",
      "Sie sind als Bob angemeldet. Wenn Sie sich als Erika anmelden, wird Bob abgemeldet.",
      ">Als Erika anmelden</button>",
      ">Nicht anmelden</a>",
    ]) {
      expect(wordsOf(shown)).toContain(words);
    }
    expect(shown.text).toContain("<bdi>Erika</bdi>");
    expect(shown.headers.get("vary")).toBe("Accept-Language");
    const refused = await sendForm({ link: "none", confirmed: "yes" }, { headers });
    expect(refused.status).toBe(401);
    expect(refused.text).toContain('<html lang="de">');
    expect(refused.text).toContain("Der Anmeldelink gilt nicht oder wurde schon benutzt.");
    expect(refused.text).not.toContain("not valid");
    const inFrench = await sendForm({ link: token }, { headers: { "accept-language": "fr, xx" } });
    expect(inFrench.text).toContain('<html lang="en">');
  });

  test.each([{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }])(
    "is refused with %j, also with the click",
    async (headers) => {
      const { token } = await rig.makeAccount();
      const sent = await sendForm({ link: token, confirmed: "yes" }, { headers });
      expect([sent.status, sent.headers.get("set-cookie")]).toEqual([403, null]);
      expect((await rig.call("POST", ask, { body: { token } })).status).toBe(200);
    },
  );

  test("a GET or HEAD of it, as a scanner makes, is no call that there is", async () => {
    const { token } = await rig.makeAccount();
    for (const method of ["GET", "HEAD"]) {
      const query = `?token=${token}&link=${token}&confirmed=yes`;
      expect((await rig.call(method, `${byForm}${query}`)).status).toBe(405);
    }
    expect((await rig.call("POST", ask, { body: { token } })).status).toBe(200);
  });
});
