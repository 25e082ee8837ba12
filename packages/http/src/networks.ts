import { BlockList, isIP } from "node:net";

/** Builds the list of the networks that addresses and CIDRs name. */
export const networksOf = (cidrs: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", bits] = cidr.split("/");
    const isV4 = isIP(address) === 4;
    list.addSubnet(address, Number(bits ?? (isV4 ? 32 : 128)), isV4 ? "ipv4" : "ipv6");
  }
  return list;
};

/** Returns whether an address is in one of the networks. */
export const isInNetworks = (networks: BlockList, address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 4 ? "ipv4" : "ipv6");
};
