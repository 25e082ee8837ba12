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
import { type RpcUrls, refuse } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";
import type { AskContract, ContractsMessage } from "../domain/siwe.ts";
import { IssuerAway, issuerFetch } from "./issuer-fetch.ts";

/** For all that is asked about one message. */
const answerMsMax = 4_000;

/** More than any wallet needs to be deployed and to check a signature. */
const gasMax = 5_000_000;

/** Questions at once; strangers ask them, and providers count them. */
const questionsMax = 8;

/** Codes of JSON-RPC with which nodes say that the call itself failed. */
const revertCodes = new Set([3, -32_000, -32_015]);

const signatureForm = /^0x(?:[0-9a-fA-F]{2})+$/;
const erc1271 = parseAbi(["function isValidSignature(bytes32, bytes) view returns (bytes4)"]);
const yes = `0x1626ba7e${"0".repeat(56)}`;

const Answer = z.union([
  z.object({ result: z.string().regex(/^0x[0-9a-fA-F]*$/) }),
  z.object({ error: z.object({ code: z.number() }) }),
]);

/**
 * Makes the port to contract wallets, through the providers that are named for their chains: deployed ones
 * (ERC-1271), and those that their signature deploys (ERC-6492). On a chain without a provider nobody is
 * asked, and the answer is no. Where several are named, all must say yes: a liar alone lets nobody in.
 * Throws SIWE_CHAIN_UNAVAILABLE.
 */
export const createContractWallets = ({
  rpcUrls,
  log,
}: {
  rpcUrls: RpcUrls;
  log: Log;
}): AskContract => {
  let asking = 0;
  return async (question) => {
    const urls = rpcUrls.get(question.chainId);
    if (urls === undefined || !signatureForm.test(question.signature)) return false;
    if (asking >= questionsMax) throw refuse("SIWE_CHAIN_UNAVAILABLE");
    asking += 1;
    try {
      const signal = AbortSignal.timeout(answerMsMax);
      const said = await Promise.all(urls.map((url) => askProvider(question, { url, signal })));
      return said.every((isYes) => isYes);
    } catch (error) {
      if (!(error instanceof IssuerAway)) throw error;
      const line = { method: "siwe", chain_id: question.chainId, rule: error.message };
      log.warn(line, "a contract wallet could not be asked");
      throw refuse("SIWE_CHAIN_UNAVAILABLE");
    } finally {
      asking -= 1;
    }
  };
};

type Provider = { url: string; signal: AbortSignal };

const askProvider = async (question: ContractsMessage, provider: Provider): Promise<boolean> => {
  const address = getAddress(question.address);
  const signature = `0x${question.signature.slice(2)}` as const;
  const [chainId, code] = await Promise.all([
    ask(provider, "eth_chainId", []),
    ask(provider, "eth_getCode", [address, "latest"]),
  ]);
  if (chainId === undefined || code === undefined) throw new IssuerAway("a node gives no answer");
  if (BigInt(chainId) !== BigInt(question.chainId)) throw new IssuerAway("a node of another chain");
  const isWrapped = isErc6492Signature(signature);
  const bare = isWrapped ? innerOf(signature) : signature;
  if (bare === undefined) return false;
  // Without code and without what deploys it, nobody is there who could say yes.
  if (code === "0x" && !isWrapped) return false;
  const hash = hashMessage(question.message);
  const call =
    code === "0x"
      ? { data: validatorOf(address, hash, signature) }
      : { to: address, data: checkOf(hash, bare) };
  const answer = await ask(provider, "eth_call", [{ ...call, gas: numberToHex(gasMax) }, "latest"]);
  if (answer === undefined) return false;
  return code === "0x" ? /^0x0*1$/.test(answer) : answer === yes;
};

/** Undefined where a signature has the mark of ERC-6492, and not what belongs before it. */
const innerOf = (signature: Hex): Hex | undefined => {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    return undefined;
  }
};

const checkOf = (hash: Hex, signature: Hex): Hex =>
  encodeFunctionData({ abi: erc1271, functionName: "isValidSignature", args: [hash, signature] });

/**
 * The standard's own validator, as code that is run and stored nowhere. It calls what the signature names,
 * which may be anything; then it asks the address of the message, and no other. There is code only if that
 * call put it there, and code comes to an address by nothing but what the address was made from.
 */
const validatorOf = (address: Hex, hash: Hex, signature: Hex): Hex =>
  encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, hash, signature],
  });

/** Asks a node; undefined if the call itself failed on the chain. Throws IssuerAway. */
const ask = async (
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
  const read = Answer.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || !read.success) throw new IssuerAway(`a node answers ${response.status}`);
  if ("result" in read.data) return read.data.result;
  if (method === "eth_call" && revertCodes.has(read.data.error.code)) return undefined;
  throw new IssuerAway(`a node answers with error ${read.data.error.code}`);
};
