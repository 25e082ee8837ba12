import { readFileSync } from "node:fs";
import * as z from "zod";
import { Amount, chainIdForm, parseHosts, parseRpcUrls } from "@payment-links/contracts";
import { CommaList, RateLimit, readSecret } from "@payment-links/runtime";
import { parseProviderSecrets } from "./domain/provider-secrets.ts";

const count = (max: number) => z.int().min(0).max(max);

/** What an operator may set per chain id (`CHAINS_FILE`); unknown names are a fault. */
const ChainOverrides = z.record(
  z.string().regex(chainIdForm),
  z.strictObject({
    finality: z
      .union([z.enum(["finalized", "safe"]), z.strictObject({ blocks: count(100_000) })])
      .exactOptional(),
    headLagBlocks: count(10_000).exactOptional(),
    finalDepthBlocks: count(100_000).exactOptional(),
    rangeBlocksMax: z.int().min(1).max(100_000).exactOptional(),
    pollMs: z.int().min(50).max(600_000).exactOptional(),
    isDisposable: z.boolean().exactOptional(),
    auditBlocksMin: z.int().min(1).max(100_000).exactOptional(),
    finalityByAmount: z
      .array(z.strictObject({ from: Amount, blocks: count(10_000) }))
      .max(20)
      .exactOptional(),
    findsDeposits: z.boolean().exactOptional(),
    depositMinimums: z.record(z.string(), Amount).exactOptional(),
  }),
);

/**
 * The service's own variables: `SETTLEMENT_PROVIDER_SECRETS` and `RPC_URLS`, or the files that their
 * `…_FILE` twins name, and `CHAINS_FILE`. `EVM_RPC_URLS` and `EVM_CHAINS_FILE` are their names of
 * before. Without them there are no providers, and no chain is watched. On the chains of `TRANSFER_CHAINS`,
 * which links-api is told as well, plain transfers are read. Hosts of `INDEPENDENT_RPC_HOSTS` may serve a chain by several URLs (rule CHAIN-31).
 * A fault repeats no value.
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
  .transform((given, context) => {
    const {
      TRANSFER_CHAINS: transferChains,
      RATE_LIMIT_NOTICES_PER_IP: noticeLimit,
      ...environment
    } = given;
    const refuse = (variable: string, message: string) => {
      context.addIssue({ code: "custom", path: [variable], message });
      return z.NEVER;
    };
    const secrets = "SETTLEMENT_PROVIDER_SECRETS";
    const providers = parseProviderSecrets(readSecret(environment, secrets) ?? "");
    if ("fault" in providers) return refuse(secrets, providers.fault);
    const hosts = parseHosts(environment.INDEPENDENT_RPC_HOSTS);
    if ("fault" in hosts) return refuse("INDEPENDENT_RPC_HOSTS", hosts.fault);
    const rpcUrls = parseRpcUrls(readSecret(environment, "RPC_URLS") ?? "", hosts);
    if ("fault" in rpcUrls) return refuse("RPC_URLS", rpcUrls.fault);
    const evmRpcUrls = parseRpcUrls(readSecret(environment, "EVM_RPC_URLS") ?? "", hosts);
    if ("fault" in evmRpcUrls) return refuse("EVM_RPC_URLS", evmRpcUrls.fault);
    const doubled = [...evmRpcUrls.keys()].find((id) => rpcUrls.has(id));
    if (doubled !== undefined) {
      return refuse("EVM_RPC_URLS", `names chain ${doubled}, as RPC_URLS does`);
    }
    if (environment.CHAINS_FILE !== undefined && environment.EVM_CHAINS_FILE !== undefined) {
      return refuse("EVM_CHAINS_FILE", "is given beside CHAINS_FILE");
    }
    const file = environment.CHAINS_FILE === undefined ? "EVM_CHAINS_FILE" : "CHAINS_FILE";
    const chainOverrides = readOverrides(environment[file]);
    if ("fault" in chainOverrides) return refuse(file, chainOverrides.fault);
    const watched = new Map([...rpcUrls, ...evmRpcUrls]);
    const { byChain } = chainOverrides;
    for (const id of transferChains) {
      if (!watched.has(id))
        return refuse("TRANSFER_CHAINS", `names chain ${id}, RPC_URLS does not`);
      if (byChain[id]?.findsDeposits === false) return refuse(file, unread(id));
    }
    return {
      providers,
      noticeLimit,
      rpcUrls: watched,
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

const unread = (chainId: string): string =>
  `switches findsDeposits off on chain ${chainId}, which TRANSFER_CHAINS names`;

type Overrides = z.output<typeof ChainOverrides>;

const readOverrides = (file: string | undefined): { byChain: Overrides } | { fault: string } => {
  if (file === undefined) return { byChain: {} };
  const json = readJsonFile(file);
  if (json === undefined) return { fault: "names a file that cannot be read as JSON" };
  const read = ChainOverrides.safeParse(json.value);
  return read.success ? { byChain: read.data } : { fault: z.prettifyError(read.error) };
};

const readJsonFile = (file: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(readFileSync(file, "utf8")) };
  } catch {
    return undefined;
  }
};
