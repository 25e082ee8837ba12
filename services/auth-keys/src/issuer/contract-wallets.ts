import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  getAddress,
  hashMessage,
  isErc6492Signature,
  numberToHex,
  parseAbi,
  parseErc6492Signature,
} from "viem";
import type { Hex } from "viem";
import * as z from "zod";
import { type RpcUrls, createApiError } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";
import type { VerifyContractSignature, ContractSignature } from "../domain/siwe.ts";
import { UpstreamUnavailableError, issuerFetch } from "./issuer-fetch.ts";

/** The timeout for all requests about one message. */
const responseMsMax = 4_000;

/**
 * The gas limit of one call. It is more than any wallet needs to be deployed and to verify a
 * signature.
 */
const gasMax = 5_000_000;

/**
 * The maximum number of concurrent verifications. They are limited because anyone can trigger them,
 * and RPC providers charge for requests.
 */
const concurrentRequestsMax = 8;

/** JSON-RPC error codes with which nodes report that the call itself failed. */
const revertCodes = new Set([3, -32_000, -32_015]);

const signaturePattern = /^0x(?:[0-9a-fA-F]{2})+$/;
const erc1271 = parseAbi(["function isValidSignature(bytes32, bytes) view returns (bytes4)"]);
const erc1271MagicValue = `0x1626ba7e${"0".repeat(56)}`;

const RpcReply = z.union([
  z.object({ result: z.string().regex(/^0x[0-9a-fA-F]*$/) }),
  z.object({ error: z.object({ code: z.number() }) }),
]);

/**
 * Creates the verifier of contract wallets' signatures. It supports deployed contracts (ERC-1271),
 * and contracts that are not deployed yet and whose signature contains their deployment (ERC-6492).
 *
 * It queries the RPC providers that are configured for the contract's chain. If none is configured,
 * the result is false. If there are several, all of them must confirm the signature, so that one
 * dishonest provider cannot let anyone in. Throws SIWE_CHAIN_UNAVAILABLE if a provider fails or too
 * many verifications are in progress.
 */
export const createContractSignatureVerifier = ({
  rpcUrls,
  log,
}: {
  rpcUrls: RpcUrls;
  log: Log;
}): VerifyContractSignature => {
  let pendingRequestCount = 0;
  return async (contractSignature) => {
    const urls = rpcUrls.get(contractSignature.chainId);
    if (urls === undefined || !signaturePattern.test(contractSignature.signature)) return false;
    if (pendingRequestCount >= concurrentRequestsMax)
      throw createApiError("SIWE_CHAIN_UNAVAILABLE");
    pendingRequestCount += 1;
    try {
      const signal = AbortSignal.timeout(responseMsMax);
      const verdicts = await Promise.all(
        urls.map((url) => verifyWithProvider(contractSignature, { url, signal })),
      );
      return verdicts.every((isValid) => isValid);
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError)) throw error;
      const logFields = {
        method: "siwe",
        chain_id: contractSignature.chainId,
        rule: error.message,
      };
      log.warn(logFields, "could not verify a contract wallet's signature");
      throw createApiError("SIWE_CHAIN_UNAVAILABLE");
    } finally {
      pendingRequestCount -= 1;
    }
  };
};

type Provider = { url: string; signal: AbortSignal };

const verifyWithProvider = async (
  contractSignature: ContractSignature,
  provider: Provider,
): Promise<boolean> => {
  const address = getAddress(contractSignature.address);
  const signature = `0x${contractSignature.signature.slice(2)}` as const;
  const [chainId, code] = await Promise.all([
    requestRpc(provider, "eth_chainId", []),
    requestRpc(provider, "eth_getCode", [address, "latest"]),
  ]);
  if (chainId === undefined || code === undefined)
    throw new UpstreamUnavailableError("a node returned no result");
  if (BigInt(chainId) !== BigInt(contractSignature.chainId))
    throw new UpstreamUnavailableError("a node serves another chain");
  const isErc6492 = isErc6492Signature(signature);
  const innerSignature = isErc6492 ? parseInnerSignature(signature) : signature;
  if (innerSignature === undefined) return false;
  // The contract is not deployed, and the signature does not contain its deployment, so nothing can
  // confirm the signature.
  if (code === "0x" && !isErc6492) return false;
  const hash = hashMessage(contractSignature.message);
  const callFields =
    code === "0x"
      ? { data: encodeValidatorDeployment(address, hash, signature) }
      : { to: address, data: encodeSignatureCheck(hash, innerSignature) };
  const result = await requestRpc(provider, "eth_call", [
    { ...callFields, gas: numberToHex(gasMax) },
    "latest",
  ]);
  if (result === undefined) return false;
  return code === "0x" ? /^0x0*1$/.test(result) : result === erc1271MagicValue;
};

/**
 * Returns the signature inside an ERC-6492 signature, or undefined if the data around it is
 * malformed.
 */
const parseInnerSignature = (signature: Hex): Hex | undefined => {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    return undefined;
  }
};

const encodeSignatureCheck = (hash: Hex, signature: Hex): Hex =>
  encodeFunctionData({ abi: erc1271, functionName: "isValidSignature", args: [hash, signature] });

/**
 * Encodes the validator contract of ERC-6492. The node executes its deployment code without storing
 * it. The validator first makes the call that the signature specifies, which can be any call. It
 * then calls the contract at exactly the message's address. Code exists there only if the first
 * call deployed it. A contract's address depends on its deployment data, so an attacker cannot
 * deploy other code there.
 */
const encodeValidatorDeployment = (address: Hex, hash: Hex, signature: Hex): Hex =>
  encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, hash, signature],
  });

/**
 * Sends a request to a node. Returns undefined if the call itself failed on the chain. Throws
 * `UpstreamUnavailableError` if the node does not respond correctly.
 */
const requestRpc = async (
  { url, signal }: Provider,
  method: string,
  params: readonly unknown[],
): Promise<string | undefined> => {
  const response = await issuerFetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    redirect: "manual",
    signal,
  });
  const parsedReply = RpcReply.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !parsedReply.success)
    throw new UpstreamUnavailableError(`a node responded with status ${response.status}`);
  if ("result" in parsedReply.data) return parsedReply.data.result;
  if (method === "eth_call" && revertCodes.has(parsedReply.data.error.code)) return undefined;
  throw new UpstreamUnavailableError(`a node returned error ${parsedReply.data.error.code}`);
};
