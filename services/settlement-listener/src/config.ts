import { readFileSync } from "node:fs";
import * as z from "zod";
import { parseRpcUrls } from "@payment-links/contracts";
import { readSecret } from "@payment-links/runtime";
import { parseProviderSecrets } from "./domain/provider-secrets.ts";

const count = (max: number) => z.int().min(0).max(max);

/** What an operator may set per chain id (`EVM_CHAINS_FILE`); unknown names are a fault. */
const ChainOverrides = z.record(
  z.string().regex(/^[1-9]\d{0,19}$/),
  z.strictObject({
    finality: z
      .union([z.enum(["finalized", "safe"]), z.strictObject({ blocks: count(100_000) })])
      .exactOptional(),
    headLagBlocks: count(10_000).exactOptional(),
    finalDepthBlocks: count(100_000).exactOptional(),
    rangeBlocksMax: z.int().min(1).max(100_000).exactOptional(),
    pollMs: z.int().min(50).max(600_000).exactOptional(),
    isDisposable: z.boolean().exactOptional(),
  }),
);

/**
 * The service's own variables: `SETTLEMENT_PROVIDER_SECRETS` and `EVM_RPC_URLS`, or the files that
 * their `…_FILE` twins name, and `EVM_CHAINS_FILE`. Without them there are no providers, and no
 * chain is watched. A fault repeats no value.
 */
export const settlementListenerConfig = z
  .object({
    SETTLEMENT_PROVIDER_SECRETS: z.string().optional(),
    SETTLEMENT_PROVIDER_SECRETS_FILE: z.string().optional(),
    EVM_RPC_URLS: z.string().optional(),
    EVM_RPC_URLS_FILE: z.string().optional(),
    EVM_CHAINS_FILE: z.string().optional(),
  })
  .transform((environment, context) => {
    const refuse = (variable: string, message: string) => {
      context.addIssue({ code: "custom", path: [variable], message });
      return z.NEVER;
    };
    const secrets = "SETTLEMENT_PROVIDER_SECRETS";
    const providers = parseProviderSecrets(readSecret(environment, secrets) ?? "");
    if ("fault" in providers) return refuse(secrets, providers.fault);
    const rpcUrls = parseRpcUrls(readSecret(environment, "EVM_RPC_URLS") ?? "");
    if ("fault" in rpcUrls) return refuse("EVM_RPC_URLS", rpcUrls.fault);
    const chainOverrides = readOverrides(environment.EVM_CHAINS_FILE);
    if ("fault" in chainOverrides) return refuse("EVM_CHAINS_FILE", chainOverrides.fault);
    return { providers, rpcUrls, chainOverrides: chainOverrides.byChain };
  });
export type SettlementListenerConfig = z.output<typeof settlementListenerConfig>;

const readOverrides = (file: string | undefined) => {
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
