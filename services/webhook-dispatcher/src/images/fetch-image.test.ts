import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { interceptConnections } from "@payment-links/runtime/testing/intercept-connections";
import { parseHostOverrides } from "../guard/host-overrides.ts";
import { type ImageHost, startImageHost } from "../testing/start-image-host.ts";
import { type FetchImage, createImageFetcher } from "./fetch-image.ts";

/* Addresses that must not be requested. No dial may even be attempted beneath Node's own hooks. */

const zone: Record<string, readonly string[]> = {
  "inside.com": ["127.0.0.1"],
  "mixed.com": ["93.184.216.34", "10.0.0.1"],
  "mapped.com": ["::ffff:127.0.0.1"],
  "metadata.com": ["169.254.169.254"],
  "public.com": ["93.184.216.34"],
};
let flipCount = 0;
const resolve = async (name: string): Promise<readonly string[]> => {
  // The results alternate between public and private, so that a check and a later lookup would
  // differ.
  if (name === "flips.com") return (flipCount += 1) % 2 === 0 ? ["93.184.216.34"] : ["127.0.0.1"];
  const addresses = zone[name];
  if (addresses === undefined) throw new Error("NXDOMAIN at ns1.inside.local");
  return addresses;
};

let host: ImageHost;
let fetchImage: FetchImage;
let dials: ReturnType<typeof interceptConnections>;
beforeAll(async () => {
  host = await startImageHost();
  const overrides = parseHostOverrides([`images.test=${host.origin}`]) ?? new Map();
  const rules = {
    overriddenHosts: new Set(overrides.keys()),
    ownHosts: new Set(["pay.example.com"]),
  };
  fetchImage = createImageFetcher({ rules, resolve, overrides });
});
afterAll(() => host.close());
beforeEach(() => {
  dials = interceptConnections({ redirectPort: Number(new URL(host.origin).port) });
});
afterEach(() => {
  dials.restore();
});

const typeOrErrorName = async (url: string): Promise<string> => {
  try {
    const { type } = await fetchImage(url, new AbortController().signal);
    return type;
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
};

describe("an image (rule API-27)", () => {
  test.each([
    "https://inside.com/png",
    "https://mixed.com/png",
    "https://mapped.com/png",
    "https://metadata.com/png",
    "https://flips.com/png",
    "https://10.0.0.1/png",
    "https://[::ffff:10.0.0.1]/png",
    "https://[::1]/png",
    "https://0x7f.1/png",
    "https://localhost/png",
    "https://links-api.default.svc/png",
    "https://pay.example.com/png",
    "https://user:word@images.test/png",
    "https://images.test:8443/png",
    "http://images.test/png",
    "file:///etc/passwd",
  ])("is never dialed at a URL that is not public: %s", async (url) => {
    expect(await typeOrErrorName(url)).toBe("BlockedAddressError");
    expect(dials.dialedAddresses).toEqual([]);
  });

  test.each([
    "/to-http",
    "/to-private",
    "/to-metadata",
    "/to-inside",
    "/to-us",
    "/to-file",
    "/to-data",
    "/to-port",
    "/with-password",
  ])("is never dialed at a redirect's target that is not public: %s", async (path) => {
    expect(await typeOrErrorName(`https://images.test${path}`)).toBe("BlockedAddressError");
    expect(dials.dialedAddresses).toEqual(["127.0.0.1"]);
  });

  test("is dialed only at the checked address if that is public", async () => {
    // The server does not speak TLS. The error proves that the request used TLS.
    expect(await typeOrErrorName("https://public.com/png")).not.toBe("BlockedAddressError");
    expect(dials.dialedAddresses).toEqual(["93.184.216.34"]);
  });

  test("is not fetched from a host unknown to DNS", async () => {
    expect(await typeOrErrorName("https://nowhere.com/png")).toBe("UnresolvedHostError");
    expect(dials.dialedAddresses).toEqual([]);
  });
});

test("an abort during a hanging DNS lookup ends the fetch", async () => {
  const fetchHanging = createImageFetcher({
    rules: { overriddenHosts: new Set(), ownHosts: new Set() },
    resolve: () => new Promise(() => {}),
    overrides: new Map(),
  });
  const abortController = new AbortController();
  const request = fetchHanging("https://hangs.com/png", abortController.signal);
  abortController.abort(new Error("fetch aborted"));
  await expect(request).rejects.toThrow("fetch aborted");
});
