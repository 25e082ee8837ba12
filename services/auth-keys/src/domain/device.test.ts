import { expect, test } from "@jest/globals";
import { describeDevice } from "./device.ts";

const webKit = "AppleWebKit/537.36 (KHTML, like Gecko)";
const mobileWebKit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

test.each([
  [
    "Chrome on macOS",
    `(Macintosh; Intel Mac OS X 10_15_7) ${webKit} Chrome/156.0.0.0 Safari/537.36`,
  ],
  ["Chrome on Linux", `(X11; Linux x86_64) ${webKit} HeadlessChrome/156.0.0.0 Safari/537.36`],
  [
    "Edge on Windows",
    `(Windows NT 10.0; Win64; x64) ${webKit} Chrome/156.0 Safari/537.36 Edg/156.0`,
  ],
  [
    "Opera on Windows",
    `(Windows NT 10.0; Win64; x64) ${webKit} Chrome/156.0 Safari/537.36 OPR/99.0`,
  ],
  ["Chrome on Android", `(Linux; Android 10; K) ${webKit} Chrome/156.0.0.0 Mobile Safari/537.36`],
  [
    "Samsung Internet on Android",
    `(Linux; Android 10; K) ${webKit} SamsungBrowser/29.0 Chrome/136.0 Mobile Safari/537.36`,
  ],
  ["Chrome on ChromeOS", `(X11; CrOS x86_64 14541.0.0) ${webKit} Chrome/156.0.0.0 Safari/537.36`],
  ["Firefox on Linux", "(X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0"],
  [
    "Safari on macOS",
    `(Macintosh; Intel Mac OS X 10_15_7) ${mobileWebKit} Version/26.0 Safari/605.1.15`,
  ],
  [
    "Safari on iPhone",
    `(iPhone; CPU iPhone OS 18_6 like Mac OS X) ${mobileWebKit} Version/26.0 Mobile/15E148 Safari/604.1`,
  ],
  [
    "Firefox on iPad",
    `(iPad; CPU OS 18_6 like Mac OS X) ${mobileWebKit} FxiOS/150.0 Mobile/15E148 Safari/605.1.15`,
  ],
  ["Linux", "(X11; Linux x86_64) Unknown/1.0"],
])("recognizes %s", (device, userAgent) => {
  expect(describeDevice(`Mozilla/5.0 ${userAgent}`)).toBe(device);
});

test("returns nothing of an unknown user agent", () => {
  for (const userAgent of [null, "", "curl/8.5.0", "<script>alert(1)</script>", "a".repeat(300)])
    expect(describeDevice(userAgent)).toBeNull();
});
