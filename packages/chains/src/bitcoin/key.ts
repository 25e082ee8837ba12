import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { HDKey } from "@scure/bip32";
import { p2pkh, p2sh, p2tr, p2wpkh } from "@scure/btc-signer";
import { tryDecode } from "../address-parse-result.ts";
import { type BitcoinChainId, bitcoinNetworks } from "./address.ts";
import { computeDescriptorChecksum } from "./descriptor-checksum.ts";
import { mayBePrivateKey } from "../private-key.ts";

/**
 * What is wrong with an extended key or descriptor:
 * - `malformed`: not a supported format
 * - `checksum`: an invalid checksum
 * - `network`: a key of another network
 * - `depth`: not an account-level key (m/purpose'/coin'/account')
 * - `kind`: a script kind that is not for a single key, or that does not fit the key
 * - `path`: a path other than the account's receiving addresses
 * - `private_key`: possibly a private key
 */
type BitcoinKeyFault =
  | "malformed"
  | "checksum"
  | "network"
  | "depth"
  | "kind"
  | "path"
  | "private_key";

/** The canonical descriptor, or what is wrong with the input. */
type BitcoinKeyParseResult = { descriptor: string } | { fault: BitcoinKeyFault };

type ScriptKind = "pkh" | "sh(wpkh" | "wpkh" | "tr";
type KeyVersion = { kind: ScriptKind; isMainnet: boolean };

/** The public version bytes of BIP-32, and those of SLIP-132 for single-signature keys. */
const singleSigVersions: Readonly<Record<number, KeyVersion>> = {
  0x04_88_b2_1e: { kind: "pkh", isMainnet: true },
  0x04_9d_7c_b2: { kind: "sh(wpkh", isMainnet: true },
  0x04_b2_47_46: { kind: "wpkh", isMainnet: true },
  0x04_35_87_cf: { kind: "pkh", isMainnet: false },
  0x04_4a_52_62: { kind: "sh(wpkh", isMainnet: false },
  0x04_5f_1c_f6: { kind: "wpkh", isMainnet: false },
};
/** The version bytes of SLIP-132 for multisig keys (Ypub, Zpub, Upub, Vpub). */
const multisigVersions = new Set([0x02_95_b4_3f, 0x02_aa_7e_d3, 0x02_42_89_ef, 0x02_57_54_83]);

const bip32Versions = { mainnet: 0x04_88_b2_1e, testnet: 0x04_35_87_cf };

/** The purpose in an account's path by script kind (BIP-44, 49, 84, 86). */
const purposes: Readonly<Record<ScriptKind, string>> = {
  pkh: "44",
  "sh(wpkh": "49",
  wpkh: "84",
  tr: "86",
};

/** Longer than any descriptor of one key. */
const lengthMax = 300;
const extendedKeyPattern = /^[a-zA-Z]pub[1-9A-HJ-NP-Za-km-z]{100,115}$/;
const descriptorPattern =
  /^(pkh|wpkh|tr|sh\(wpkh)\((?:\[([^\]]*)\])?([a-zA-Z0-9]+)([^()#]*)\)(\))?$/;
const originPattern = /^[0-9a-fA-F]{8}((?:\/\d{1,10}['h]?)*)$/;
const accountDepth = 3;
const hardenedIndexMin = 0x80_00_00_00;
const base58check = createBase58check(sha256);

/**
 * Parses the key of a Bitcoin account as a wallet app exports it: an xpub, ypub or zpub (tpub, upub
 * or vpub on test networks), or a descriptor with such a key. Returns the descriptor of its
 * receiving addresses without origin and checksum. This descriptor is the same for every notation
 * of a key.
 */
export const parseBitcoinKey = (chainId: BitcoinChainId, input: string): BitcoinKeyParseResult => {
  if (mayBePrivateKey(input)) return { fault: "private_key" };
  if (input.length > lengthMax) return { fault: "malformed" };
  return extendedKeyPattern.test(input)
    ? parseExtendedKey(chainId, input)
    : parseInputDescriptor(chainId, input);
};

const parseExtendedKey = (
  chainId: BitcoinChainId,
  input: string,
  descriptorKind?: ScriptKind,
): BitcoinKeyParseResult => {
  const bytes = tryDecode(() => base58check.decode(input));
  if (bytes === undefined) return { fault: "checksum" };
  if (bytes.length !== 78) return { fault: "malformed" };
  const versionNumber = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const version = singleSigVersions[versionNumber];
  if (version === undefined)
    return { fault: multisigVersions.has(versionNumber) ? "kind" : "malformed" };
  // A descriptor allows only the version bytes of BIP-32, because the descriptor itself states the
  // script kind.
  if (descriptorKind !== undefined && version.kind !== "pkh") return { fault: "kind" };
  const isMainnet = chainId === "bitcoin";
  if (version.isMainnet !== isMainnet) return { fault: "network" };
  const bip32Version = isMainnet ? bip32Versions.mainnet : bip32Versions.testnet;
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, bip32Version);
  const encodedKey = base58check.encode(bytes);
  const key = tryDecode(() => createHdKey(encodedKey));
  if (key === undefined) return { fault: "malformed" };
  if (key.depth !== accountDepth || key.index < hardenedIndexMin) return { fault: "depth" };
  return { descriptor: formatDescriptor(descriptorKind ?? version.kind, encodedKey) };
};

const formatDescriptor = (kind: ScriptKind, key: string): string =>
  `${kind}(${key}/0/*)${kind === "sh(wpkh" ? ")" : ""}`;

const isKind = (text: string): text is ScriptKind => Object.hasOwn(purposes, text);

const parseInputDescriptor = (chainId: BitcoinChainId, input: string): BitcoinKeyParseResult => {
  const [body = "", checksum, ...extraParts] = input.split("#");
  if (extraParts.length > 0) return { fault: "malformed" };
  if (checksum !== undefined && checksum !== computeDescriptorChecksum(body))
    return { fault: "checksum" };
  const [, kind = "", origin, key = "", path, closingParenthesis] =
    descriptorPattern.exec(body) ?? [];
  if (!isKind(kind)) return { fault: /^[a-z_]+\(/.test(body) ? "kind" : "malformed" };
  if ((kind === "sh(wpkh") !== (closingParenthesis === ")")) return { fault: "malformed" };
  if (!extendedKeyPattern.test(key)) return { fault: "malformed" };
  if (path !== "/0/*" && path !== "/<0;1>/*") return { fault: "path" };
  const fault = origin === undefined ? undefined : findOriginFault(chainId, kind, origin);
  return fault === undefined ? parseExtendedKey(chainId, key, kind) : { fault };
};

/**
 * Checks that the origin path, as the wallet reports it, belongs to an account of this script kind.
 */
const findOriginFault = (
  chainId: BitcoinChainId,
  kind: ScriptKind,
  origin: string,
): BitcoinKeyFault | undefined => {
  const [, path] = originPattern.exec(origin) ?? [];
  if (path === undefined) return "malformed";
  const [purpose, coin, account, ...extraParts] = path.split("/").slice(1);
  if (account === undefined || extraParts.length > 0) return "depth";
  if ([purpose, coin, account].some((component) => !/['h]$/.test(component ?? ""))) return "depth";
  if (purpose?.slice(0, -1) !== purposes[kind]) return "kind";
  return coin?.slice(0, -1) === (chainId === "bitcoin" ? "0" : "1") ? undefined : "network";
};

const createHdKey = (encodedKey: string): HDKey =>
  HDKey.fromExtendedKey(encodedKey, {
    public: encodedKey.startsWith("x") ? bip32Versions.mainnet : bip32Versions.testnet,
    // No private key has this version, because this function parses only public keys.
    private: 0,
  });

const storedDescriptorPattern =
  /^(pkh|wpkh|tr|sh\(wpkh)\(([xt]pub[1-9A-HJ-NP-Za-km-z]{100,115})\/0\/\*\)\)?$/;

/**
 * Returns whether a wallet address is a descriptor in the form that {@link parseBitcoinKey}
 * returns.
 */
export const isBitcoinDescriptor = (text: string): boolean => storedDescriptorPattern.test(text);

const parseStoredDescriptor = (descriptor: string): { kind: ScriptKind; account: HDKey } => {
  const [, kind = "", key = ""] = storedDescriptorPattern.exec(descriptor) ?? [];
  if (!isKind(kind)) throw new Error("not a stored Bitcoin account descriptor");
  return { kind, account: createHdKey(key) };
};

/**
 * Derives a descriptor's receiving addresses, starting at an index. Throws if the descriptor is not
 * in stored form.
 */
export const deriveBitcoinAddresses = (
  chainId: BitcoinChainId,
  descriptor: string,
  { startIndex, count }: { startIndex: number; count: number },
): string[] => {
  const { kind, account } = parseStoredDescriptor(descriptor);
  const receivingChain = account.deriveChild(0);
  return Array.from({ length: count }, (_, offset) => {
    const { publicKey } = receivingChain.deriveChild(startIndex + offset);
    if (publicKey === null) throw new Error("the extended public key derived no public key");
    return deriveAddress(chainId, kind, publicKey);
  });
};

const deriveAddress = (
  chainId: BitcoinChainId,
  kind: ScriptKind,
  publicKey: Uint8Array,
): string => {
  const network = bitcoinNetworks[chainId];
  const createPayment = {
    pkh: () => p2pkh(publicKey, network),
    "sh(wpkh": () => p2sh(p2wpkh(publicKey, network), network),
    wpkh: () => p2wpkh(publicKey, network),
    tr: () => p2tr(publicKey.subarray(1), undefined, network),
  } satisfies Record<ScriptKind, () => { address?: string }>;
  const { address } = createPayment[kind]();
  if (address === undefined) throw new Error("the single-key script has no address");
  return address;
};

/**
 * Computes the id of the address sequence that a descriptor derives. The id does not depend on the
 * wallet's owner or on the fingerprint in the key, so two links never share an address even if
 * several wallets use the same key.
 */
export const computeBitcoinKeyId = (chainId: BitcoinChainId, descriptor: string): string => {
  const { kind, account } = parseStoredDescriptor(descriptor);
  const { chainCode, publicKey } = account;
  if (chainCode === null || publicKey === null)
    throw new Error("the extended key has no chain code or no public key");
  return bytesToHex(sha256(concatBytes(utf8ToBytes(`${chainId} ${kind} `), chainCode, publicKey)));
};
