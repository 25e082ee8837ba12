import * as z from "zod";

const AddressOrCidr = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Whether a text is an address or a CIDR, of either family. */
export const isAddressOrCidr = (text: string): boolean => AddressOrCidr.safeParse(text).success;
