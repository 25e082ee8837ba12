import { readFileSync } from "node:fs";
import * as z from "zod";
import { Amount, chainIdPattern, parseHosts, parseRpcUrls } from "@payment-links/contracts";
import { CommaList, RateLimit, readSecret } from "@payment-links/runtime";
import { parseProviderSecrets } from "./domain/provider-secrets.ts";

const intUpTo = (max: number) => z.int().min(0).max(max);

/**
 * The settings that an operator may override per chain id (`CHAINS_FILE`). Unknown names are
 * rejected.
 */
const ChainOverrides = z.record(
  z.string().regex(chainIdPattern),
  z.strictObject({
    finality: z
      .union([z.enum(["finalized", "safe"]), z.strictObject({ blocks: intUpTo(100_000) })])
      .exactOptional(),
    headLagBlocks: intUpTo(10_000).exactOptional(),
    finalDepthBlocks: intUpTo(100_000).exactOptional(),
    rangeBlocksMax: z.int().min(1).max(100_000).exactOptional(),
    pollMs: z.int().min(50).max(600_000).exactOptional(),
    isDisposable: z.boolean().exactOptional(),
    auditBlocksMin: z.int().min(1).max(100_000).exactOptional(),
    finalityByAmount: z
      .array(z.strictObject({ from: Amount, blocks: intUpTo(10_000) }))
      .max(20)
      .exactOptional(),
    findsDeposits: z.boolean().exactOptional(),
    depositMinimums: z.record(z.string(), Amount).exactOptional(),
  }),
);

/**
 * The service's own environment variables:
 * - `SETTLEMENT_PROVIDER_SECRETS` and `RPC_URLS`, or their `…_FILE` variants. Without secrets, no
 *   provider can send notices. Without URLs, no chain is watched.
 * - `CHAINS_FILE`: settings per chain.
 * - `EVM_RPC_URLS` and `EVM_CHAINS_FILE`: former names of `RPC_URLS` and `CHAINS_FILE`.
 * - `TRANSFER_CHAINS`: the chains on which plain transfers are detected. It must have the same
 *   value as for links-api.
 * - `INDEPENDENT_RPC_HOSTS`: hosts whose URLs count as independent providers of one chain (rule
 *   CHAIN-31).
 * Error messages never contain secrets.
 */
export const settlementListenerConfig = z
  .object({
    SETTLEMENT_PROVIDER_SECRETS: z.string().optional(),
    SETTLEMENT_PROVIDER_SECRETS_FILE: z.string().optional(),
    RPC_URLS: z.string().optional(),
    RPC_URLS_FILE: z.string().optional(),
    EVM_RPC_URLS: z.string().optional(),
    EVM_RPC_URLS_FILE: z.string().optional(),
    INDEPENDENT_RPC_HOSTS: z.string().default(""),
    CHAINS_FILE: z.string().optional(),
    EVM_CHAINS_FILE: z.string().optional(),
    TRANSFER_CHAINS: CommaList.default([]),
    RATE_LIMIT_NOTICES_PER_IP: RateLimit.prefault("200:2000"),
  })
  .transform((variables, context) => {
    const {
      TRANSFER_CHAINS: transferChains,
      RATE_LIMIT_NOTICES_PER_IP: noticeLimit,
      ...environment
    } = variables;
    const reject = (variable: string, message: string) => {
      context.addIssue({ code: "custom", path: [variable], message });
      return z.NEVER;
    };
    const secretsVariable = "SETTLEMENT_PROVIDER_SECRETS";
    const providers = parseProviderSecrets(readSecret(environment, secretsVariable) ?? "");
    if ("fault" in providers) return reject(secretsVariable, providers.fault);
    const hosts = parseHosts(environment.INDEPENDENT_RPC_HOSTS);
    if ("fault" in hosts) return reject("INDEPENDENT_RPC_HOSTS", hosts.fault);
    const rpcUrls = parseRpcUrls(readSecret(environment, "RPC_URLS") ?? "", hosts);
    if ("fault" in rpcUrls) return reject("RPC_URLS", rpcUrls.fault);
    const evmRpcUrls = parseRpcUrls(readSecret(environment, "EVM_RPC_URLS") ?? "", hosts);
    if ("fault" in evmRpcUrls) return reject("EVM_RPC_URLS", evmRpcUrls.fault);
    const duplicateChainId = [...evmRpcUrls.keys()].find((id) => rpcUrls.has(id));
    if (duplicateChainId !== undefined) {
      return reject("EVM_RPC_URLS", `names chain ${duplicateChainId}, which RPC_URLS also names`);
    }
    if (environment.CHAINS_FILE !== undefined && environment.EVM_CHAINS_FILE !== undefined) {
      return reject("EVM_CHAINS_FILE", "is set in addition to CHAINS_FILE; remove one of them");
    }
    const chainsFileVariable =
      environment.CHAINS_FILE === undefined ? "EVM_CHAINS_FILE" : "CHAINS_FILE";
    const chainOverrides = readOverrides(environment[chainsFileVariable]);
    if ("fault" in chainOverrides) return reject(chainsFileVariable, chainOverrides.fault);
    const allRpcUrls = new Map([...rpcUrls, ...evmRpcUrls]);
    const { byChain } = chainOverrides;
    for (const id of transferChains) {
      if (!allRpcUrls.has(id))
        return reject("TRANSFER_CHAINS", `names chain ${id}, which RPC_URLS does not name`);
      if (byChain[id]?.findsDeposits === false)
        return reject(chainsFileVariable, describeDisabledDeposits(id));
    }
    return {
      providers,
      noticeLimit,
      rpcUrls: allRpcUrls,
      transferChains,
      chainOverrides: {
        ...byChain,
        ...Object.fromEntries(
          transferChains.map((id) => [id, { ...byChain[id], findsDeposits: true }]),
        ),
      },
    };
  });
export type SettlementListenerConfig = z.output<typeof settlementListenerConfig>;

const describeDisabledDeposits = (chainId: string): string =>
  `turns findsDeposits off on chain ${chainId}, which TRANSFER_CHAINS names`;

type ChainOverridesById = z.output<typeof ChainOverrides>;

const readOverrides = (
  file: string | undefined,
): { byChain: ChainOverridesById } | { fault: string } => {
  if (file === undefined) return { byChain: {} };
  const json = readJsonFile(file);
  if (json === undefined) return { fault: "the file cannot be read as JSON" };
  const parsed = ChainOverrides.safeParse(json.value);
  return parsed.success ? { byChain: parsed.data } : { fault: z.prettifyError(parsed.error) };
};

const readJsonFile = (file: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(readFileSync(file, "utf8")) };
  } catch {
    return undefined;
  }
};
