import type { Hex } from "viem";

/** A call in the form that Tron wallets accept, with limits on what it can cost the payer. */
export type TronCall = {
  functionSelector: string;
  parameter: string;
  energyMax: number;
  feeLimitSun: bigint;
};

/**
 * The highest price of one unit of energy that Tron has ever had, in sun. Payers pay for the energy
 * that they use, not for the limit.
 */
const sunPerEnergy = 420n;

/**
 * Upper limits for the energy of a call.
 *
 * On an EVM node, an approval of the test token uses 25,131 gas, and its payment through the proxy
 * uses 46,291 gas, without the 21,000 gas that every transaction costs
 * (`test/checkout-browser/tron.test.ts`). A plain transfer is a part of that payment. Tron charges up
 * to 4.4 times as much energy for a heavily used contract such as USDT (TIP-491, with the network
 * parameter `getDynamicEnergyMaxFactor` at 34000 on 2026-11-23). The rest is a safety margin, because
 * neither Tron nor the USDT contract was measured.
 */
const energyMax = { approve: 120_000, transfer: 250_000, payToken: 400_000 };

const selectors = {
  approve: "approve(address,uint256)",
  transfer: "transfer(address,uint256)",
  payToken: "transferFromWithReferenceAndFee(address,address,uint256,bytes,uint256,address)",
};

/** Builds a call of a function from its calldata. */
export const buildTronCall = (name: keyof typeof energyMax, data: Hex): TronCall => ({
  functionSelector: selectors[name],
  parameter: data.slice("0x".length + 8),
  energyMax: energyMax[name],
  feeLimitSun: BigInt(energyMax[name]) * sunPerEnergy,
});
