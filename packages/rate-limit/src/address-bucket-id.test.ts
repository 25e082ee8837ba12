import { describe, expect, test } from "@jest/globals";
import { addressBucketId } from "./address-bucket-id.ts";

describe("addressBucketId", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    ["::FFFF:CB00:7107", "203.0.113.7"],
    ["0:0:0:0:0:ffff:203.0.113.7", "203.0.113.7"],
    ["0000:0000:0000:0000:0000:ffff:cb00:7107", "203.0.113.7"],
    ["::ffff:102:304", "1.2.3.4"],
    ["::ffff:0.0.0.0", "0.0.0.0"],
  ])("maps %s to the IPv4 address %s", (ip, expectedId) => {
    expect(addressBucketId(ip)).toBe(expectedId);
  });

  test.each([
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8::1.2.3.4", "2001:db8:0:0::/64"],
    ["2001:0DB8:0:0:ffff:ffff:ffff:ffff", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
    ["64:ff9b::1.2.3.4", "64:ff9b:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    // One bit is outside the IPv4-mapped range.
    ["::fffe:203.0.113.7", "0:0:0:0::/64"],
    ["1::ffff:203.0.113.7", "1:0:0:0::/64"],
    ["::1:ffff:cb00:7107", "0:0:0:0::/64"],
  ])("maps %s to the network %s", (ip, expectedId) => {
    expect(addressBucketId(ip)).toBe(expectedId);
  });

  test("maps 10,000 addresses of one /64 to one bucket (rule API-22)", () => {
    const ids = new Set<string>();
    for (let host = 0; host < 10_000; host += 1) {
      ids.add(addressBucketId(`2001:db8:1:2:${host.toString(16)}::${host.toString(16)}`));
    }
    expect(ids).toEqual(new Set(["2001:db8:1:2::/64"]));
  });

  test.each([
    "",
    "unknown",
    "1.2.3",
    "1.2.3.4.5",
    "0x7f.1",
    "010.0.0.1",
    "1.2.3.4, 5.6.7.8",
    ":::",
    "::g",
  ])("maps the invalid address %p to one shared bucket", (ip) => {
    expect(addressBucketId(ip)).toBe("no-address");
  });
});
