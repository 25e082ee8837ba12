import { describe, expect, test } from "@jest/globals";
import { isPublicAddress } from "./public-address.ts";

describe("isPublicAddress", () => {
  // The first and last address of each range, and the allowed neighbors on both sides.
  test.each([
    ["this network", ["0.0.0.0", "0.255.255.255"], ["1.0.0.0"]],
    ["private 10/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]],
    [
      "carrier NAT",
      ["100.64.0.0", "100.100.100.200", "100.127.255.255"],
      ["100.63.255.255", "100.128.0.0"],
    ],
    ["loopback", ["127.0.0.0", "127.0.0.1", "127.255.255.255"], ["126.255.255.255", "128.0.0.0"]],
    ["Azure's internal address", ["168.63.129.16"], ["168.63.129.15", "168.63.129.17"]],
    [
      "link-local",
      ["169.254.0.0", "169.254.169.254", "169.254.255.255"],
      ["169.253.255.255", "169.255.0.0"],
    ],
    ["private 172.16/12", ["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]],
    ["IETF assignments", ["192.0.0.0", "192.0.0.255"], ["191.255.255.255", "192.0.1.0"]],
    ["documentation 1", ["192.0.2.0", "192.0.2.255"], ["192.0.1.255", "192.0.3.0"]],
    ["6to4 relays", ["192.88.99.0", "192.88.99.255"], ["192.88.98.255", "192.88.100.0"]],
    ["private 192.168/16", ["192.168.0.0", "192.168.255.255"], ["192.167.255.255", "192.169.0.0"]],
    ["benchmarking", ["198.18.0.0", "198.19.255.255"], ["198.17.255.255", "198.20.0.0"]],
    ["documentation 2", ["198.51.100.0", "198.51.100.255"], ["198.51.99.255", "198.51.101.0"]],
    ["documentation 3", ["203.0.113.0", "203.0.113.255"], ["203.0.112.255", "203.0.114.0"]],
    [
      "multicast, reserved, broadcast",
      ["224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"],
      ["223.255.255.255"],
    ],
  ])("IPv4: %s is blocked, and its neighbors are allowed", (_name, blocked, allowed) => {
    expect(blocked.filter(isPublicAddress)).toEqual([]);
    expect(allowed.filter(isPublicAddress)).toEqual(allowed);
  });

  test.each([
    ["unspecified and loopback", ["::", "::1"]],
    ["IPv4-mapped", ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8"]],
    ["IPv4-translated", ["::ffff:0:7f00:1", "::ffff:0:808:808"]],
    ["IPv4-compatible", ["::127.0.0.1", "::8.8.8.8"]],
    ["NAT64 of a blocked address", ["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1"]],
    [
      "addresses next to NAT64's prefix",
      ["64:ff9b::1:808:808", "64:ff9a:ffff:ffff:ffff:ffff:808:808"],
    ],
    ["NAT64 for local use", ["64:ff9b:1::1", "64:ff9b:1::808:808"]],
    ["discard", ["100::", "100::ffff:ffff:ffff:ffff"]],
    ["Teredo", ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"]],
    [
      "the rest of IETF assignments",
      ["2001:1::1", "2001:20::1", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ],
    [
      "documentation",
      [
        "2001:db8::",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff::",
        "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
      ],
    ],
    ["6to4", ["2002::", "2002:7f00:1::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]],
    ["segment routing", ["5f00::1"]],
    ["unique-local", ["fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]],
    ["link-local and site-local", ["fe80::1", "febf::1", "fec0::1", "feff::1"]],
    ["multicast", ["ff00::1", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]],
    ["outside of global unicast", ["1fff:ffff::1", "4000::1"]],
    ["an address with a zone", ["fe80::1%eth0", "2606:4700::1%eth0"]],
  ])("IPv6: %s is blocked", (_name, blocked) => {
    expect(blocked.filter(isPublicAddress)).toEqual([]);
  });

  test("IPv6: global unicast is allowed, up to the edge of each blocked range in it", () => {
    const allowed = [
      "2000::1",
      "2001:200::",
      "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
      "2001:db9::",
      "2003::1",
      "2606:4700:4700::1111",
      "2a00:1450::1",
      "3ffe:ffff::1",
      "3fff:1000::1",
    ];
    expect(allowed.filter(isPublicAddress)).toEqual(allowed);
  });

  test("NAT64 of a public address is allowed, because networks with DNS64 resolve to it", () => {
    expect(isPublicAddress("64:ff9b::808:808")).toBe(true);
    expect(isPublicAddress("64:ff9b::8.8.8.8")).toBe(true);
  });

  test("text that is not a plain address is blocked", () => {
    const texts = [
      "",
      "example.com",
      "8.8.8",
      "0x8.8.8.8",
      "010.8.8.8",
      "8.8.8.8 ",
      "[2606:4700::1]",
      "134744072",
    ];
    expect(texts.filter(isPublicAddress)).toEqual([]);
  });
});
