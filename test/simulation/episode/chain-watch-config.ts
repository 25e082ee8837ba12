import { Decimal } from "@payment-links/contracts";
import { safeDepth } from "../block.ts";
import { type ChainKind, base, bitcoin, solana, tron } from "../chain-kinds.ts";
import type { ModelTransfer } from "../model-transfer.ts";
import { type Random, createRandom } from "../random.ts";

/** A configuration with which an operator can watch a chain. */
export type ChainWatchConfig = {
  kind: ChainKind;
  /** The chain's settings in `CHAINS_FILE`. */
  settings: object;
  depositBaseUnitsMin: number | undefined;
  /**
   * Returns the number of blocks on top of a transfer's block that are required to apply the
   * transfer.
   */
  getRequiredDepth: (transfer: Pick<ModelTransfer, "amount">) => number;
};

const finalityPolicies = [
  { finality: "safe" },
  { finality: "finalized" },
  { finality: { blocks: 3 } },
] as const;

/**
 * Bitcoin's confirmation policies. The first is the product's default: one confirmation, and more
 * for larger amounts. The second requires more confirmations than a fork orphans.
 */
const amountFinalityPolicies = [
  {
    finality: { blocks: 0 },
    finalityByAmount: [
      { from: "2", blocks: 2 },
      { from: "4", blocks: 5 },
    ],
  },
  { finality: { blocks: 3 }, finalityByAmount: [{ from: "3", blocks: 5 }] },
] as const;

type FinalityPolicy = (typeof finalityPolicies)[number] | (typeof amountFinalityPolicies)[number];

const createDepthFunction =
  (policy: FinalityPolicy): ChainWatchConfig["getRequiredDepth"] =>
  ({ amount }) =>
    "finalityByAmount" in policy
      ? Math.max(
          policy.finality.blocks,
          ...policy.finalityByAmount.map(({ blocks, from }) =>
            new Decimal(amount).greaterThanOrEqualTo(from) ? blocks : 0,
          ),
        )
      : safeDepth;

type DepositConfig = { settings: object; baseUnitsMin: number | undefined };

/** Bitcoin has no deposits, because each link has its own address. */
const noDepositConfigs: readonly DepositConfig[] = [{ settings: {}, baseUnitsMin: undefined }];

/**
 * Returns the deposit settings of a chain. Deposits are enabled in most of them, with different
 * minimums.
 */
const listDepositConfigs = ({ tokens }: ChainKind): readonly DepositConfig[] => {
  const enabledConfigs: readonly DepositConfig[] = [
    { settings: { findsDeposits: true }, baseUnitsMin: 10_000 },
    {
      settings: {
        findsDeposits: true,
        depositMinimums: Object.fromEntries(tokens.map(({ address }) => [address, "1"])),
      },
      baseUnitsMin: 1_000_000,
    },
  ];
  return [...noDepositConfigs, ...enabledConfigs, ...enabledConfigs];
};

/** Returns a chain's watch configurations, one for each option that an operator has. */
const listWatchConfigs = (
  kind: ChainKind,
  depositConfigs: readonly DepositConfig[],
  policies: readonly FinalityPolicy[],
): readonly ChainWatchConfig[] =>
  policies.flatMap((policy) =>
    kind.rangeBlocksMaxOptions.flatMap((rangeBlocksMax) =>
      depositConfigs.map(({ settings, baseUnitsMin }): ChainWatchConfig => {
        const commonSettings = {
          rangeBlocksMax,
          headLagBlocks: 0,
          pollMs: 1_000,
          ...kind.settings,
        };
        const chainSettings = { ...policy, ...settings, ...commonSettings };
        return {
          kind,
          settings: chainSettings,
          depositBaseUnitsMin: baseUnitsMin,
          getRequiredDepth: createDepthFunction(policy),
        };
      }),
    ),
  );

/** Tron has no `safe` block. Solana counts slots instead of blocks. Bitcoin has no block tags. */
const watchConfigsByKind = [
  listWatchConfigs(base, listDepositConfigs(base), finalityPolicies),
  listWatchConfigs(tron, listDepositConfigs(tron), finalityPolicies.slice(1)),
  listWatchConfigs(solana, listDepositConfigs(solana), finalityPolicies.slice(1, 2)),
  listWatchConfigs(bitcoin, noDepositConfigs, amountFinalityPolicies),
];

const pickWatchConfigs = (random: Random): readonly ChainWatchConfig[] =>
  random.pick([watchConfigsByKind[0] ?? [], ...watchConfigsByKind]);

/** Picks the watch configuration. It must use the first random number of a seed. */
export const pickWatchConfig = (random: Random): ChainWatchConfig =>
  random.pick(pickWatchConfigs(random));

export const simulatedChainIds = watchConfigsByKind.flatMap(
  ([watchConfig]) => watchConfig?.kind.chainId ?? [],
);

/** Returns the chain of a seed's episode. */
export const getChainOfSeed = (seed: number): string =>
  pickWatchConfigs(createRandom(seed))[0]?.kind.chainId ?? "";
