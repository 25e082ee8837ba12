import { recoverMessageAddress } from "viem/utils";
import { type Catalogue, parseInstant, toEip55 } from "@payment-links/contracts";

/** A message that was issued longer ago is refused (rule CALLER-11). */
export const siweAgeMsMax = 5 * 60 * 1000;

/** How far a wallet's clock may be ahead of ours. */
export const siweSkewMsMax = 30 * 1000;

/** What a message must say: where it was made for, on which chains, and by when. */
type SiweExpectation = { origin: string; chainIds: readonly string[]; now: Date };

/** Which rule a message breaks. */
export type SiweFault =
  | "malformed"
  | "address"
  | "scheme"
  | "domain"
  | "uri"
  | "version"
  | "chain_id"
  | "issued_at"
  | "expiration_time"
  | "not_before"
  | "signature";

/**
 * Who signed, in EIP-55 form, and the nonce that the caller must still find to be its own. With a chain
 * it is a contract there.
 */
type SiweProof = { address: string; nonce: string; chainId?: string };

/** A message that a contract is said to have signed, and the chain on which the message names it. */
export type ContractSignature = {
  chainId: string;
  address: string;
  message: string;
  signature: string;
};

/** Tells whether the contract at the address, and no other, takes the signature for its own. */
export type VerifyContractSignature = (contractSignature: ContractSignature) => Promise<boolean>;

type SiweFields = Record<
  "domain" | "address" | "uri" | "version" | "chainId" | "nonce" | "issuedAt",
  string
> &
  Partial<Record<"scheme" | "expirationTime" | "notBefore", string>>;

/**
 * Holds a Sign-In with Ethereum message (EIP-4361) and its signature (EIP-191) against every rule but
 * the nonce's. Answers who signed it, or the first broken rule. A chain is asked only about a message
 * that is right but for its signature.
 */
export const verifySiwe = async (
  { message, signature }: { message: string; signature: string },
  expectation: SiweExpectation,
  verifyContractSignature: VerifyContractSignature,
): Promise<SiweProof | SiweFault> => {
  const fields = parseSiwe(message);
  if (fields === undefined) return "malformed";
  const fault = findOriginFault(fields, expectation) ?? findTimeFault(fields, expectation.now);
  if (fault !== undefined) return fault;
  const { address, chainId, nonce } = fields;
  if ((await recoverSigner(message, signature)) === address) return { address, nonce };
  const isContractSigned = await verifyContractSignature({ chainId, address, message, signature });
  return isContractSigned ? { address, nonce, chainId } : "signature";
};

/** Whom a message names as its signer, true or not. */
export const parseClaimedSigner = (
  message: string,
): { address: string; chainId: string } | undefined => {
  const fields = parseSiwe(message);
  return fields && { address: toEip55(fields.address), chainId: fields.chainId };
};

type SiweRequest = { origin: string; chainId: string; address: string; nonce: string; now: Date };

/** Writes the message that a wallet is asked to sign to prove an address, in EIP-55 form, to us. */
export const buildSiweMessage = ({ origin, chainId, address, nonce, now }: SiweRequest): string =>
  [
    `${new URL(origin).host} wants you to sign in with your Ethereum account:`,
    address,
    "",
    "Prove that this address is yours. It costs nothing and moves nothing.",
    "",
    `URI: ${origin}`,
    "Version: 1",
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${now.toISOString()}`,
  ].join("\n");

const findOriginFault = (
  fields: SiweFields,
  { origin, chainIds }: SiweExpectation,
): SiweFault | undefined => {
  const originUrl = new URL(origin);
  if (toEip55(fields.address) !== fields.address) return "address";
  if (fields.scheme !== undefined && `${fields.scheme}:` !== originUrl.protocol) return "scheme";
  if (fields.domain !== originUrl.host) return "domain";
  if (!isUriOfOrigin(fields.uri, originUrl)) return "uri";
  if (fields.version !== "1") return "version";
  return chainIds.includes(fields.chainId) ? undefined : "chain_id";
};

/** The person who signs must see our origin; what follows its slash cannot lead to another one. */
const isUriOfOrigin = (uri: string, { origin }: URL): boolean =>
  uri === origin || uri.startsWith(`${origin}/`);

const findTimeFault = (fields: SiweFields, now: Date): SiweFault | undefined => {
  const issuedAt = parseInstant(fields.issuedAt);
  if (issuedAt === undefined) return "issued_at";
  const ageMs = now.getTime() - issuedAt.getTime();
  if (ageMs > siweAgeMsMax || ageMs < -siweSkewMsMax) return "issued_at";
  if (fields.expirationTime !== undefined) {
    const expiresAt = parseInstant(fields.expirationTime);
    if (expiresAt === undefined || expiresAt <= now) return "expiration_time";
  }
  if (fields.notBefore !== undefined) {
    const notBefore = parseInstant(fields.notBefore);
    if (notBefore === undefined || notBefore > now) return "not_before";
  }
  return undefined;
};

const timePattern = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)`;
const uriPattern = String.raw`[A-Za-z0-9:/?#[\]@!$&'()*+,;=._~%-]+`;
const domainPattern = String.raw`(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?`;

/**
 * The message's grammar (EIP-4361, "ABNF Message Format"), matched against the whole text:
 * everything that is signed is read, and nothing else is in the text. A statement and resources are
 * free.
 */
const siwePattern = new RegExp(
  [
    `^(?:(?<scheme>[A-Za-z][A-Za-z0-9+.-]*)://)?(?<domain>${domainPattern})`,
    String.raw` wants you to sign in with your Ethereum account:\n(?<address>0x[0-9a-fA-F]{40})\n\n`,
    String.raw`(?:[^\p{Cc}]+\n)?\n`,
    String.raw`URI: (?<uri>${uriPattern})\nVersion: (?<version>\d+)\nChain ID: (?<chainId>[1-9]\d*)\n`,
    String.raw`Nonce: (?<nonce>[A-Za-z0-9]{8,64})\nIssued At: (?<issuedAt>${timePattern})`,
    String.raw`(?:\nExpiration Time: (?<expirationTime>${timePattern}))?`,
    String.raw`(?:\nNot Before: (?<notBefore>${timePattern}))?`,
    String.raw`(?:\nRequest ID: [A-Za-z0-9._~!$&'()*+,;=:@%-]*)?`,
    String.raw`(?:\nResources:(?:\n- ${uriPattern})*)?$`,
  ].join(""),
  "u",
);

const parseSiwe = (message: string): SiweFields | undefined =>
  // Every mandatory field of SiweFields is a group without a `?` in the grammar.
  siwePattern.exec(message)?.groups as SiweFields | undefined;

const signaturePattern = /^0x[0-9a-f]{64}(?<s>[0-9a-f]{64})(?:1b|1c|00|01)$/i;

/** Half of secp256k1's order: a larger `s` is another form of the same signature (EIP-2). */
const halfCurveOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const recoverSigner = async (message: string, signature: string): Promise<string | undefined> => {
  const s = signaturePattern.exec(signature)?.groups?.["s"];
  if (s === undefined || BigInt(`0x${s}`) > halfCurveOrder) return undefined;
  try {
    return await recoverMessageAddress({ message, signature: `0x${signature.slice(2)}` });
  } catch {
    // No point of the curve: nobody's signature.
    return undefined;
  }
};

/** The chains that a message may name: every EVM chain of the catalogue. */
export const getEvmChainIds = ({ chains }: Pick<Catalogue, "chains">): string[] =>
  chains.filter(({ chainType }) => chainType === "EVM").map(({ id }) => id);
