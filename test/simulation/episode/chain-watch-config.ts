import { Decimal } from "@payment-links/contracts";
import { safeDepth } from "../block.ts";
import { type ChainKind, base, bitcoin, solana, tron } from "../chain-kinds.ts";
import type { ModelTransfer } from "../model-transfer.ts";
import { type Random, createRandom } from "../random.ts";

/** A way in which an operator has a chain watched. */
export type ChainWatchConfig = {
  kind: ChainKind;
  /** What `CHAINS_FILE` says of the chain. */
  settings: object;
  depositBaseUnitsMin: number | undefined;
  /** So many blocks on top of its own, at least, make money count. */
  getRequiredDepth: (transfer: Pick<ModelTransfer, "amount">) => number;
};

const finalityPolicies = [
  { finality: "safe" },
  { finality: "finalized" },
  { finality: { blocks: 3 } },
] as const;

/** By one confirmation and more, as the product has it, and by more than a fork takes away. */
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

/** Bitcoin has none: each link has an address of its own. */
const noDepositConfigs: readonly DepositConfig[] = [{ settings: {}, baseUnitsMin: undefined }];

/** Whether deposits are looked for, mostly they are, and what is the least that shows. */
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

/** How a chain is watched, in each of the ways that an operator may choose. */
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

/** Tron has no `safe`, Solana counts slots and not blocks, Bitcoin has no tags. */
const watchConfigsByKind = [
  listWatchConfigs(base, listDepositConfigs(base), finalityPolicies),
  listWatchConfigs(tron, listDepositConfigs(tron), finalityPolicies.slice(1)),
  listWatchConfigs(solana, listDepositConfigs(solana), finalityPolicies.slice(1, 2)),
  listWatchConfigs(bitcoin, noDepositConfigs, amountFinalityPolicies),
];

const pickWatchConfigs = (random: Random): readonly ChainWatchConfig[] =>
  random.pick([watchConfigsByKind[0] ?? [], ...watchConfigsByKind]);

/** The first that a seed draws. */
export const pickWatchConfig = (random: Random): ChainWatchConfig =>
  random.pick(pickWatchConfigs(random));

export const simulatedChainIds = watchConfigsByKind.flatMap(
  ([watchConfig]) => watchConfig?.kind.chainId ?? [],
);

/** On which chain a seed's episode plays. */
export const getChainOfSeed = (seed: number): string =>
  pickWatchConfigs(createRandom(seed))[0]?.kind.chainId ?? "";
