// What a wallet's transaction on Tron must be, byte for byte: `Transaction.raw` of java-tron's protocol, in
// Protocol Buffers, with one `TriggerSmartContract`. A wallet signs the hash of these bytes.

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const addressDigits = 42;
const checkedDigits = 50;

/** An address' 21 bytes in hex. */
const hexOf = (address) =>
  [...address]
    .reduce((number, letter) => number * 58n + BigInt(alphabet.indexOf(letter)), 0n)
    .toString(16)
    .padStart(checkedDigits, "0")
    .slice(0, addressDigits);

const byte = (number) => Number(number).toString(16).padStart(2, "0");

const varint = (number) => {
  const rest = BigInt(number);
  return rest < 128n ? byte(rest) : byte((rest & 127n) | 128n) + varint(rest >> 7n);
};

const numberField = (field, number) => varint(field << 3) + varint(number);
const bytesField = (field, hex) => varint((field << 3) | 2) + varint(hex.length / 2) + hex;

const typeOfCall = 31;
const nameOfCall = "type.googleapis.com/protocol.TriggerSmartContract";
const nameInHex = [...nameOfCall].map((letter) => byte(letter.codePointAt(0))).join("");

/**
 * Whether a transaction is just that step of the server's, from that account: the same contract, calldata and
 * fee limit, no coins, and nothing else. Only its place in time is the wallet's.
 */
export const isStep = ({ txID, raw_data: raw, raw_data_hex: hex }, { to, data, tron }, from) => {
  const call =
    bytesField(1, hexOf(from)) + bytesField(2, hexOf(to)) + bytesField(4, data.slice("0x".length));
  const contract =
    numberField(1, typeOfCall) + bytesField(2, bytesField(1, nameInHex) + bytesField(2, call));
  const wanted =
    bytesField(1, raw.ref_block_bytes) +
    bytesField(4, raw.ref_block_hash) +
    numberField(8, raw.expiration) +
    bytesField(11, contract) +
    numberField(14, raw.timestamp) +
    numberField(18, tron.feeLimit);
  return /^[0-9a-f]{64}$/i.test(txID) && hex.toLowerCase() === wanted;
};
