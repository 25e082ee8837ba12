import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { createBase58check } from "@scure/base";
import { HDKey } from "@scure/bip32";
import { p2pkh, p2sh, p2tr, p2wpkh } from "@scure/btc-signer";
import { decoded } from "./address-reading.ts";
import { type BitcoinChainId, bitcoinNetworks } from "./bitcoin-address.ts";
import { descriptorChecksum } from "./descriptor-checksum.ts";
import { mayBePrivateKey } from "./private-key.ts";

/**
 * What is wrong with an extended key or descriptor: no such form; a checksum that does not hold;
 * another network's; not an account's key (m/purpose'/coin'/account'); a kind of script that is not
 * for one key; a path other than the account's receiving addresses; a private key.
 */
export type BitcoinKeyFault =
  | "malformed"
  | "checksum"
  | "network"
  | "depth"
  | "kind"
  | "path"
  | "private_key";

/** A descriptor in its one form, or what is wrong with what was typed. */
export type BitcoinKeyReading = { descriptor: string } | { fault: BitcoinKeyFault };

type Kind = "pkh" | "sh(wpkh" | "wpkh" | "tr";
type Version = { kind: Kind; isMain: boolean };

/** BIP-32's own public versions and those of SLIP-132 that are for one key. */
const versions: Readonly<Record<number, Version>> = {
  0x04_88_b2_1e: { kind: "pkh", isMain: true },
  0x04_9d_7c_b2: { kind: "sh(wpkh", isMain: true },
  0x04_b2_47_46: { kind: "wpkh", isMain: true },
  0x04_35_87_cf: { kind: "pkh", isMain: false },
  0x04_4a_52_62: { kind: "sh(wpkh", isMain: false },
  0x04_5f_1c_f6: { kind: "wpkh", isMain: false },
};
/** SLIP-132's versions of keys that are one of several signers' (Ypub, Zpub, Upub, Vpub). */
const sharedVersions = new Set([0x02_95_b4_3f, 0x02_aa_7e_d3, 0x02_42_89_ef, 0x02_57_54_83]);

const plainVersions = { main: 0x04_88_b2_1e, test: 0x04_35_87_cf };

/** By kind, the purpose of an account's path (BIP-44, 49, 84, 86). */
const purposes: Readonly<Record<Kind, string>> = {
  pkh: "44",
  "sh(wpkh": "49",
  wpkh: "84",
  tr: "86",
};

/** Longer than any descriptor of one key. */
const lengthMax = 300;
const keyForm = /^[a-zA-Z]pub[1-9A-HJ-NP-Za-km-z]{100,115}$/;
const descriptorForm = /^(pkh|wpkh|tr|sh\(wpkh)\((?:\[([^\]]*)\])?([a-zA-Z0-9]+)([^()#]*)\)(\))?$/;
const originForm = /^[0-9a-fA-F]{8}((?:\/\d{1,10}['h]?)*)$/;
const accountDepth = 3;
const hardened = 0x80_00_00_00;
const base58check = createBase58check(sha256);

/**
 * Reads the key of an account of Bitcoin as its owner's wallet gives it: xpub, ypub or zpub (tpub,
 * upub, vpub on test networks), or a descriptor of one. Answers the descriptor of its receiving
 * addresses without origin and checksum, the same for every way of writing one key.
 */
export const readBitcoinKey = (chainId: BitcoinChainId, typed: string): BitcoinKeyReading => {
  if (mayBePrivateKey(typed)) return { fault: "private_key" };
  if (typed.length > lengthMax) return { fault: "malformed" };
  return keyForm.test(typed) ? readKey(chainId, typed) : readDescriptor(chainId, typed);
};

const readKey = (chainId: BitcoinChainId, typed: string, stated?: Kind): BitcoinKeyReading => {
  const bytes = decoded(() => base58check.decode(typed));
  if (bytes === undefined) return { fault: "checksum" };
  if (bytes.length !== 78) return { fault: "malformed" };
  const number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const version = versions[number];
  if (version === undefined) return { fault: sharedVersions.has(number) ? "kind" : "malformed" };
  // Within a descriptor only BIP-32's own versions stand, as the descriptor says the kind.
  if (stated !== undefined && version.kind !== "pkh") return { fault: "kind" };
  const isMain = chainId === "bitcoin";
  if (version.isMain !== isMain) return { fault: "network" };
  const own = isMain ? plainVersions.main : plainVersions.test;
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, own);
  const text = base58check.encode(bytes);
  const key = decoded(() => parseKey(text));
  if (key === undefined) return { fault: "malformed" };
  if (key.depth !== accountDepth || key.index < hardened) return { fault: "depth" };
  return { descriptor: writeDescriptor(stated ?? version.kind, text) };
};

const writeDescriptor = (kind: Kind, key: string): string =>
  `${kind}(${key}/0/*)${kind === "sh(wpkh" ? ")" : ""}`;

const isKind = (text: string): text is Kind => Object.hasOwn(purposes, text);

const readDescriptor = (chainId: BitcoinChainId, typed: string): BitcoinKeyReading => {
  const [body = "", checksum, ...more] = typed.split("#");
  if (more.length > 0) return { fault: "malformed" };
  if (checksum !== undefined && checksum !== descriptorChecksum(body)) return { fault: "checksum" };
  const [, kind = "", origin, key = "", path, second] = descriptorForm.exec(body) ?? [];
  if (!isKind(kind)) return { fault: /^[a-z_]+\(/.test(body) ? "kind" : "malformed" };
  if ((kind === "sh(wpkh") !== (second === ")")) return { fault: "malformed" };
  if (!keyForm.test(key)) return { fault: "malformed" };
  if (path !== "/0/*" && path !== "/<0;1>/*") return { fault: "path" };
  const fault = origin === undefined ? undefined : findOriginFault(chainId, kind, origin);
  return fault === undefined ? readKey(chainId, key, kind) : { fault };
};

/** The path that a wallet says it came by must be the one that this kind of account has. */
const findOriginFault = (
  chainId: BitcoinChainId,
  kind: Kind,
  origin: string,
): BitcoinKeyFault | undefined => {
  const [, path] = originForm.exec(origin) ?? [];
  if (path === undefined) return "malformed";
  const [purpose, coin, account, ...more] = path.split("/").slice(1);
  if (account === undefined || more.length > 0) return "depth";
  if ([purpose, coin, account].some((step) => !/['h]$/.test(step ?? ""))) return "depth";
  if (purpose?.slice(0, -1) !== purposes[kind]) return "kind";
  return coin?.slice(0, -1) === (chainId === "bitcoin" ? "0" : "1") ? undefined : "network";
};

const parseKey = (text: string): HDKey =>
  HDKey.fromExtendedKey(text, {
    public: text.startsWith("x") ? plainVersions.main : plainVersions.test,
    // No private key has it: only public ones are read here.
    private: 0,
  });

const storedForm = /^(pkh|wpkh|tr|sh\(wpkh)\(([xt]pub[1-9A-HJ-NP-Za-km-z]{100,115})\/0\/\*\)\)?$/;

/** Whether a wallet's address is a descriptor as {@link readBitcoinKey} answers it. */
export const isBitcoinDescriptor = (text: string): boolean => storedForm.test(text);

const parseDescriptor = (descriptor: string): { kind: Kind; account: HDKey } => {
  const [, kind = "", key = ""] = storedForm.exec(descriptor) ?? [];
  if (!isKind(kind)) throw new Error("this is no descriptor of an account of Bitcoin");
  return { kind, account: parseKey(key) };
};

/** The receiving addresses of a descriptor, from an index on. Throws if it is not one of ours. */
export const bitcoinAddresses = (
  chainId: BitcoinChainId,
  descriptor: string,
  { from, count }: { from: number; count: number },
): string[] => {
  const { kind, account } = parseDescriptor(descriptor);
  const receiving = account.deriveChild(0);
  return Array.from({ length: count }, (_, step) => {
    const { publicKey } = receiving.deriveChild(from + step);
    if (publicKey === null) throw new Error("an extended public key derived no public key");
    return addressOf(chainId, kind, publicKey);
  });
};

const addressOf = (chainId: BitcoinChainId, kind: Kind, publicKey: Uint8Array): string => {
  const network = bitcoinNetworks[chainId];
  const pays = {
    pkh: () => p2pkh(publicKey, network),
    "sh(wpkh": () => p2sh(p2wpkh(publicKey, network), network),
    wpkh: () => p2wpkh(publicKey, network),
    tr: () => p2tr(publicKey.subarray(1), undefined, network),
  } satisfies Record<Kind, () => { address?: string }>;
  const { address } = pays[kind]();
  if (address === undefined) throw new Error("a script of one key has no address");
  return address;
};

/**
 * Names the row of addresses that a descriptor stands for: the same whoever's wallet it is and
 * whatever fingerprint was written into the key, so that no two links ever share an address.
 */
export const bitcoinKeyId = (chainId: BitcoinChainId, descriptor: string): string => {
  const { kind, account } = parseDescriptor(descriptor);
  const { chainCode, publicKey } = account;
  if (chainCode === null || publicKey === null) throw new Error("an extended key lacks its key");
  return bytesToHex(sha256(concatBytes(utf8ToBytes(`${chainId} ${kind} `), chainCode, publicKey)));
};
