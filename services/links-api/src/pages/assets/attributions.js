// Parses the attributions (ERC-8021) that apps and wallets append to a transaction's calldata.
// packages/chains has the same parser (`src/evm/reads/attributions.ts`). Both must accept the same
// calldata, or the page and the service disagree on which link a transfer pays.

const marker = "80218021802180218021802180218021";
const attributionsMax = 16;
const registryHexDigits = 40;

const readNumber = (hex, end, digitCount) => Number.parseInt(hex.slice(end - digitCount, end), 16);
const findCodesStart = (hex, end) => end - 2 - 2 * readNumber(hex, end, 2);
const findRegistryStart = (hex, end) => {
  const codesStart = findCodesStart(hex, end);
  return codesStart - 2 - 2 * readNumber(hex, codesStart, 2) - registryHexDigits;
};
const findCborStart = (hex, end) => end - 4 - 2 * readNumber(hex, end, 4);
/** The functions that find the start of an attribution, indexed by the attribution's schema id. */
const startFindersBySchema = [findCodesStart, findRegistryStart, findCborStart];

/** Returns whether hex digits are empty or consist only of complete attributions. */
const containsOnlyAttributions = (hex) => {
  let end = hex.length;
  for (let count = 0; count < attributionsMax && end > 0; count += 1) {
    const schemaEnd = end - marker.length;
    const findStart = startFindersBySchema[readNumber(hex, schemaEnd, 2)];
    if (!hex.startsWith(marker, schemaEnd) || findStart === undefined) return false;
    end = findStart(hex, schemaEnd - 2);
  }
  return end === 0;
};

/** Returns whether calldata is the expected call, optionally followed by attributions. */
export const isCallWithAttributions = (calldata, expectedCall) =>
  calldata.startsWith(expectedCall) &&
  containsOnlyAttributions(calldata.slice(expectedCall.length));
