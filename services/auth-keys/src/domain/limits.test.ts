import { expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { apiKeysMax, replacedKeysMax } from "./api-key.ts";
import { handlesMax } from "./handle.ts";
import { identitiesMax } from "./identity.ts";
import { challengeLifetimeMs, passkeysMax } from "./passkey.ts";
import { sessionIdleMs, sessionLifetimeMs, sessionsMax } from "./session.ts";
import { nonceLifetimeMs, oidcAttemptLifetimeMs } from "./sign-in-attempt.ts";
import { signInLinkLifetimeMs } from "./sign-in-link.ts";
import { siweAgeMsMax, siweSkewMsMax } from "./siwe.ts";
import { walletsMax } from "./wallet.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

// Other tests refer to each limit by name, whatever its value is. This test checks the documented
// numbers.
test("the limits match rules CALLER-9 to CALLER-21 and the README (rules CALLER-9 and CALLER-15)", () => {
  expect({ sessionIdleMs, sessionLifeMs: sessionLifetimeMs, sessionsMax }).toEqual({
    sessionIdleMs: 2 * hourMs,
    sessionLifeMs: 12 * hourMs,
    sessionsMax: 20,
  });
  expect({
    signInLinkLifeMs: signInLinkLifetimeMs,
    nonceLifeMs: nonceLifetimeMs,
    oidcAttemptLifeMs: oidcAttemptLifetimeMs,
    challengeLifeMs: challengeLifetimeMs,
  }).toEqual({
    signInLinkLifeMs: 15 * minuteMs,
    nonceLifeMs: 5 * minuteMs,
    oidcAttemptLifeMs: 10 * minuteMs,
    challengeLifeMs: 5 * minuteMs,
  });
  expect({ siweAgeMsMax, siweSkewMsMax, presenceMsMax }).toEqual({
    siweAgeMsMax: 5 * minuteMs,
    siweSkewMsMax: 30 * secondMs,
    presenceMsMax: 10 * minuteMs,
  });
  expect({ walletsMax, apiKeysMax, replacedKeysMax, identitiesMax, passkeysMax }).toEqual({
    walletsMax: 50,
    apiKeysMax: 100,
    replacedKeysMax: 100,
    identitiesMax: 10,
    passkeysMax: 10,
  });
  expect(handlesMax).toBe(3);
});
