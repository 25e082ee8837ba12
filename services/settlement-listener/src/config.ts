import * as z from "zod";
import { readSecret } from "@payment-links/runtime";
import { parseProviderSecrets } from "./domain/provider-secrets.ts";

const variable = "SETTLEMENT_PROVIDER_SECRETS";

/**
 * The service's own variables: `SETTLEMENT_PROVIDER_SECRETS`, or the file that its `…_FILE` twin
 * names (interfaces §4). Without either there are no providers. A fault repeats no value.
 */
export const settlementListenerConfig = z
  .object({
    SETTLEMENT_PROVIDER_SECRETS: z.string().optional(),
    SETTLEMENT_PROVIDER_SECRETS_FILE: z.string().optional(),
  })
  .transform((environment, context) => {
    const providers = parseProviderSecrets(readSecret(environment, variable) ?? "");
    if (!("fault" in providers)) return { providers };
    context.addIssue({ code: "custom", path: [variable], message: providers.fault });
    return z.NEVER;
  });
export type SettlementListenerConfig = z.output<typeof settlementListenerConfig>;
