import * as z from "zod";

const AddressOrCidr = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Returns whether a text is an IP address or a CIDR range, IPv4 or IPv6. */
export const isAddressOrCidr = (text: string): boolean => AddressOrCidr.safeParse(text).success;
