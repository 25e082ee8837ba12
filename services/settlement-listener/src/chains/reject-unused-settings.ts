import { getFamily } from "@payment-links/chains";
import type { Catalogue, CatalogueChain } from "@payment-links/contracts";
import { createConfigError } from "@payment-links/runtime";
import type { SettlementListenerConfig } from "../config.ts";
import type { ChainOverride } from "@payment-links/chains/chain-settings";

/**
 * Throws one `ConfigError` that lists all settings without an effect on their chain. Otherwise an
 * operator could turn on a feature that never works.
 */
export const rejectUnusedSettings = (
  { chains }: Pick<Catalogue, "chains">,
  {
    chainOverrides,
    transferChains,
  }: Pick<SettlementListenerConfig, "chainOverrides" | "transferChains">,
): void => {
  const findChain = (id: string) => chains.find((chain) => chain.id === id);
  const transferFaults = transferChains
    .filter((id) => {
      const chain = findChain(id);
      return chain === undefined || !getFamily(chain.chainType).hasTransferTracking;
    })
    .map((id) => `TRANSFER_CHAINS: ${id} is not an EVM chain in the catalogue`);
  const settingFaults = Object.entries(chainOverrides).flatMap(([id, override]) => {
    const chain = findChain(id);
    // The error about `TRANSFER_CHAINS` already covers this chain.
    if (chain === undefined || transferChains.includes(id)) return [];
    return listUnusedSettings(chain, override).map((description) => `CHAINS_FILE: ${description}`);
  });
  const faults = [...transferFaults, ...settingFaults];
  if (faults.length > 0) throw createConfigError(faults);
};

const listUnusedSettings = (
  { chainType, id }: Pick<CatalogueChain, "chainType" | "id">,
  { depositMinimums = {}, finalityByAmount, findsDeposits = false }: ChainOverride,
): readonly string[] => {
  const hasLinkAddresses = getFamily(chainType).linkAddresses !== undefined;
  const chainWithoutDeposits = `chain ${id}, which has no deposits because each link has its own address`;
  return [
    ...(hasLinkAddresses && findsDeposits
      ? [`turns on findsDeposits for ${chainWithoutDeposits}`]
      : []),
    ...(hasLinkAddresses && Object.keys(depositMinimums).length > 0
      ? [`sets depositMinimums for ${chainWithoutDeposits}`]
      : []),
    ...(!hasLinkAddresses && finalityByAmount !== undefined
      ? [`sets finalityByAmount for chain ${id}, which is not a Bitcoin chain`]
      : []),
  ];
};
