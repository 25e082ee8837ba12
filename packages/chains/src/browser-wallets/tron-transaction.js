// Checks a wallet's Tron transaction byte by byte. It must be a `Transaction.raw` of java-tron's
// protocol in the Protocol Buffers format, with one `TriggerSmartContract`. A wallet signs the hash
// of these bytes.

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const addressHexDigits = 42;
const addressHexDigitsWithChecksum = 50;

/** Returns the 21 bytes of a base58 address as hex, without the checksum. */
const decodeAddress = (address) =>
  [...address]
    .reduce((number, letter) => number * 58n + BigInt(base58Alphabet.indexOf(letter)), 0n)
    .toString(16)
    .padStart(addressHexDigitsWithChecksum, "0")
    .slice(0, addressHexDigits);

const encodeByte = (number) => Number(number).toString(16).padStart(2, "0");

const encodeVarint = (number) => {
  const value = BigInt(number);
  return value < 128n
    ? encodeByte(value)
    : encodeByte((value & 127n) | 128n) + encodeVarint(value >> 7n);
};

const encodeNumberField = (field, number) => encodeVarint(field << 3) + encodeVarint(number);
const encodeBytesField = (field, hex) =>
  encodeVarint((field << 3) | 2) + encodeVarint(hex.length / 2) + hex;

const triggerSmartContractType = 31;
const typeUrl = "type.googleapis.com/protocol.TriggerSmartContract";
const typeUrlHex = [...typeUrl].map((letter) => encodeByte(letter.codePointAt(0))).join("");

/**
 * Returns whether a transaction is exactly the server's step, sent from the given account. It must
 * have the same contract, calldata and fee limit, and must not send TRX or contain anything else.
 * The wallet can choose only the reference block, the timestamp and the expiration.
 */
export const matchesStep = (
  { txID, raw_data: rawData, raw_data_hex: rawDataHex },
  { to, data, tron },
  from,
) => {
  const call =
    encodeBytesField(1, decodeAddress(from)) +
    encodeBytesField(2, decodeAddress(to)) +
    encodeBytesField(4, data.slice("0x".length));
  const contract =
    encodeNumberField(1, triggerSmartContractType) +
    encodeBytesField(2, encodeBytesField(1, typeUrlHex) + encodeBytesField(2, call));
  const expectedHex =
    encodeBytesField(1, rawData.ref_block_bytes) +
    encodeBytesField(4, rawData.ref_block_hash) +
    encodeNumberField(8, rawData.expiration) +
    encodeBytesField(11, contract) +
    encodeNumberField(14, rawData.timestamp) +
    encodeNumberField(18, tron.feeLimit);
  return /^[0-9a-f]{64}$/i.test(txID) && rawDataHex.toLowerCase() === expectedHex;
};
