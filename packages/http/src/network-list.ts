import { BlockList, isIP } from "node:net";

/** Builds a block list from addresses and CIDRs. */
export const createNetworkList = (cidrs: readonly string[]): BlockList => {
  const networkList = new BlockList();
  for (const cidr of cidrs) {
    const [address = "", prefixLength] = cidr.split("/");
    const isV4 = isIP(address) === 4;
    networkList.addSubnet(
      address,
      Number(prefixLength ?? (isV4 ? 32 : 128)),
      isV4 ? "ipv4" : "ipv6",
    );
  }
  return networkList;
};

/** Returns whether an address is in one of the networks. */
export const isInNetworks = (networks: BlockList, address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 4 ? "ipv4" : "ipv6");
};
