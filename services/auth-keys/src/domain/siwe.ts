import { recoverMessageAddress } from "viem/utils";
import { getFamily, toEip55 } from "@payment-links/chains";
import { type Catalogue, parseInstant } from "@payment-links/contracts";

/** The maximum age of a message (rule CALLER-11). */
export const siweAgeMsMax = 5 * 60 * 1000;

/** How far a wallet's clock may be ahead of ours. */
export const siweSkewMsMax = 30 * 1000;

/** What a message must match: our origin, the allowed chains, and the current time. */
type SiweExpectation = { origin: string; chainIds: readonly string[]; now: Date };

/** The rule that a message violates. */
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
 * The signer in EIP-55 form, and the nonce, which the caller must still check. If `chainId` is set,
 * the signer is a contract on that chain.
 */
type SiweProof = { address: string; nonce: string; chainId?: string };

/** A message that a contract may have signed, and the chain that the message names. */
export type ContractSignature = {
  chainId: string;
  address: string;
  message: string;
  signature: string;
};

/** Returns whether the contract at exactly this address accepts the signature. */
export type VerifyContractSignature = (contractSignature: ContractSignature) => Promise<boolean>;

type SiweFields = Record<
  "domain" | "address" | "uri" | "version" | "chainId" | "nonce" | "issuedAt",
  string
> &
  Partial<Record<"scheme" | "expirationTime" | "notBefore", string>>;

/**
 * Verifies a Sign-In with Ethereum message (EIP-4361) and its signature (EIP-191) against every
 * rule except the nonce. Returns the signer, or the first violated rule. Queries the chain only if
 * the message passes all other rules and the signature is not from the address's own key.
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

/** Returns the signer that a message claims. The signature is not verified. */
export const parseClaimedSigner = (
  message: string,
): { address: string; chainId: string } | undefined => {
  const fields = parseSiwe(message);
  return fields && { address: toEip55(fields.address), chainId: fields.chainId };
};

type SiweRequest = { origin: string; chainId: string; address: string; nonce: string; now: Date };

/** Builds the message that a wallet signs to prove an address, which must be in EIP-55 form. */
export const buildSiweMessage = ({ origin, chainId, address, nonce, now }: SiweRequest): string =>
  [
    `${new URL(origin).host} wants you to sign in with your Ethereum account:`,
    address,
    "",
    "Sign to prove that you own this address. This is free and moves no funds.",
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

/**
 * The URI must be our origin, alone or followed by a slash. Otherwise the user could see our origin
 * at the start of a URI that leads to another host.
 */
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
 * The message's grammar (EIP-4361, "ABNF Message Format"). It must match the whole text, so a
 * signed message cannot contain anything that is not parsed. Only the statement and the resources
 * are free text.
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
  // Every mandatory field of `SiweFields` is a group without a `?` in the grammar.
  siwePattern.exec(message)?.groups as SiweFields | undefined;

const signaturePattern = /^0x[0-9a-f]{64}(?<s>[0-9a-f]{64})(?:1b|1c|00|01)$/i;

/**
 * Half of the order of secp256k1. A signature with a larger `s` has an equivalent form with a
 * smaller one (EIP-2).
 */
const halfCurveOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const recoverSigner = async (message: string, signature: string): Promise<string | undefined> => {
  const s = signaturePattern.exec(signature)?.groups?.["s"];
  if (s === undefined || BigInt(`0x${s}`) > halfCurveOrder) return undefined;
  try {
    return await recoverMessageAddress({ message, signature: `0x${signature.slice(2)}` });
  } catch {
    // The values are not a point on the curve, so there is no signer.
    return undefined;
  }
};

/** Returns the chains that a message may name: every chain of the catalog with such messages. */
export const getSignInChainIds = ({ chains }: Pick<Catalogue, "chains">): string[] =>
  chains.filter(({ chainType }) => getFamily(chainType).hasSignInMessages).map(({ id }) => id);
