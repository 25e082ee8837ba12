/** The characters of descriptors in the order of BIP-380: first those that a typing error mixes up. */
const inputCharset =
  "0123456789()[],'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#\"\\ ";
const checksumCharset = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const generator = [
  0xf5_dee5_1989n,
  0xa9_fdca_3312n,
  0x1b_ab10_e32dn,
  0x37_06b1_677an,
  0x64_4d62_6ffdn,
];

/** The eight characters behind the `#` of a descriptor (BIP-380); undefined if it has a strange character. */
export const descriptorChecksum = (descriptor: string): string | undefined => {
  let state = 1n;
  const groups: number[] = [];
  for (const character of descriptor) {
    const place = inputCharset.indexOf(character);
    if (place === -1) return undefined;
    state = mix(state, place & 31);
    groups.push(place >> 5);
    if (groups.length === 3) state = mix(state, takeGroups(groups));
  }
  if (groups.length > 0) state = mix(state, takeGroups(groups));
  for (let step = 0; step < 8; step += 1) state = mix(state, 0);
  state ^= 1n;
  return Array.from({ length: 8 }, (_, index) =>
    checksumCharset.charAt(Number((state >> BigInt(5 * (7 - index))) & 31n)),
  ).join("");
};

const takeGroups = (groups: number[]): number =>
  groups.splice(0).reduce((sum, group) => sum * 3 + group, 0);

const mix = (state: bigint, value: number): bigint => {
  const top = state >> 35n;
  const shifted = ((state & 0x7_ffff_ffffn) << 5n) ^ BigInt(value);
  return generator.reduce(
    (mixed, word, bit) => (((top >> BigInt(bit)) & 1n) === 1n ? mixed ^ word : mixed),
    shifted,
  );
};
