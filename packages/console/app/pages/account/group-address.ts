const groupLength = 4;

/**
 * Splits an address into groups of four characters, so that it can be compared with the address in a
 * wallet. The prefix `0x` is a group of its own.
 */
export const groupAddress = (address: string): string[] => {
  const prefix = address.startsWith("0x") ? "0x" : "";
  const groups = address.slice(prefix.length).match(new RegExp(`.{1,${groupLength}}`, "gsu")) ?? [];
  return prefix === "" ? groups : [prefix, ...groups];
};
