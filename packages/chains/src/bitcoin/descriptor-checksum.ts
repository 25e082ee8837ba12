/**
 * The characters of descriptors in the order of BIP-380. Characters that typing errors often mix up
 * come first.
 */
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

/**
 * Returns the eight characters after the `#` of a descriptor (BIP-380), or undefined if the
 * descriptor has an unsupported character.
 */
export const computeDescriptorChecksum = (descriptor: string): string | undefined => {
  let state = 1n;
  const groups: number[] = [];
  for (const character of descriptor) {
    const position = inputCharset.indexOf(character);
    if (position === -1) return undefined;
    state = updateState(state, position & 31);
    groups.push(position >> 5);
    if (groups.length === 3) state = updateState(state, drainGroups(groups));
  }
  if (groups.length > 0) state = updateState(state, drainGroups(groups));
  for (let round = 0; round < 8; round += 1) state = updateState(state, 0);
  state ^= 1n;
  return Array.from({ length: 8 }, (_, index) =>
    checksumCharset.charAt(Number((state >> BigInt(5 * (7 - index))) & 31n)),
  ).join("");
};

const drainGroups = (groups: number[]): number =>
  groups.splice(0).reduce((sum, group) => sum * 3 + group, 0);

const updateState = (state: bigint, value: number): bigint => {
  const highBits = state >> 35n;
  const shifted = ((state & 0x7_ffff_ffffn) << 5n) ^ BigInt(value);
  return generator.reduce(
    (nextState, generatorWord, bit) =>
      ((highBits >> BigInt(bit)) & 1n) === 1n ? nextState ^ generatorWord : nextState,
    shifted,
  );
};
