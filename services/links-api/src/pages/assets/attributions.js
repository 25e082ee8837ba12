// The attributions (ERC-8021) that apps and wallets append to a transaction's calldata. settlement-listener
// reads them in the same way (`families/evm/attributions.ts`): the two must agree on what names its link.

const marker = "80218021802180218021802180218021";
const attributionsMax = 16;
const registryDigits = 40;

const numberAt = (hex, end, digits) => Number.parseInt(hex.slice(end - digits, end), 16);
const startOfCodes = (hex, end) => end - 2 - 2 * numberAt(hex, end, 2);
const startOfRegistry = (hex, end) => {
  const codesAt = startOfCodes(hex, end);
  return codesAt - 2 - 2 * numberAt(hex, codesAt, 2) - registryDigits;
};
const startOfCbor = (hex, end) => end - 4 - 2 * numberAt(hex, end, 4);
const schemas = [startOfCodes, startOfRegistry, startOfCbor];

/** Whether hex digits are nothing, or a whole number of attributions. */
const areAttributions = (hex) => {
  let end = hex.length;
  for (let count = 0; count < attributionsMax && end > 0; count += 1) {
    const schemaEnd = end - marker.length;
    const startOf = schemas[numberAt(hex, schemaEnd, 2)];
    if (!hex.startsWith(marker, schemaEnd) || startOf === undefined) return false;
    end = startOf(hex, schemaEnd - 2);
  }
  return end === 0;
};

/** Whether calldata is a call that may be followed by attributions. */
export const isAttributed = (calldata, call) =>
  calldata.startsWith(call) && areAttributions(calldata.slice(call.length));
