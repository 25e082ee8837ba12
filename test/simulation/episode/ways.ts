import { Decimal } from "@payment-links/contracts";
import { safeDepth } from "../block.ts";
import { type ChainKind, base, bitcoin, solana, tron } from "../chain-kinds.ts";
import type { Money } from "../money.ts";
import { type Random, createRandom } from "../random.ts";

/** A way in which an operator has a chain watched. */
export type Way = {
  kind: ChainKind;
  /** What `CHAINS_FILE` says of the chain. */
  settings: object;
  depositUnitsMin: number | undefined;
  /** So many blocks on top of its own, at least, make money count. */
  depthOf: (money: Pick<Money, "amount">) => number;
};

const policies = [
  { finality: "safe" },
  { finality: "finalized" },
  { finality: { blocks: 3 } },
] as const;

/** By one confirmation and more, as the product has it, and by more than a fork takes away. */
const amountPolicies = [
  {
    finality: { blocks: 0 },
    finalityByAmount: [
      { from: "2", blocks: 2 },
      { from: "4", blocks: 5 },
    ],
  },
  { finality: { blocks: 3 }, finalityByAmount: [{ from: "3", blocks: 5 }] },
] as const;

type Policy = (typeof policies)[number] | (typeof amountPolicies)[number];

const depthBy =
  (policy: Policy): Way["depthOf"] =>
  ({ amount }) =>
    "finalityByAmount" in policy
      ? Math.max(
          policy.finality.blocks,
          ...policy.finalityByAmount.map(({ blocks, from }) =>
            new Decimal(amount).greaterThanOrEqualTo(from) ? blocks : 0,
          ),
        )
      : safeDepth;

type DepositWay = { set: object; unitsMin: number | undefined };

/** Bitcoin has none: each link has an address of its own. */
const noDeposits: readonly DepositWay[] = [{ set: {}, unitsMin: undefined }];

/** Whether deposits are looked for, mostly they are, and what is the least that shows. */
const depositWaysOf = ({ tokens }: ChainKind): readonly DepositWay[] => {
  const looked: readonly DepositWay[] = [
    { set: { findsDeposits: true }, unitsMin: 10_000 },
    {
      set: {
        findsDeposits: true,
        depositMinimums: Object.fromEntries(tokens.map(({ address }) => [address, "1"])),
      },
      unitsMin: 1_000_000,
    },
  ];
  return [...noDeposits, ...looked, ...looked];
};

/** How a chain is watched, in each of the ways that an operator may choose. */
const waysOf = (
  kind: ChainKind,
  ways: readonly DepositWay[],
  tags: readonly Policy[],
): readonly Way[] =>
  tags.flatMap((policy) =>
    kind.rangesBlocksMax.flatMap((rangeBlocksMax) =>
      ways.map(({ set, unitsMin }): Way => {
        const common = { rangeBlocksMax, headLagBlocks: 0, pollMs: 1_000, ...kind.settings };
        const settings = { ...policy, ...set, ...common };
        return { kind, settings, depositUnitsMin: unitsMin, depthOf: depthBy(policy) };
      }),
    ),
  );

/** Tron has no `safe`, Solana counts slots and not blocks, Bitcoin has no tags. */
const waysByKind = [
  waysOf(base, depositWaysOf(base), policies),
  waysOf(tron, depositWaysOf(tron), policies.slice(1)),
  waysOf(solana, depositWaysOf(solana), policies.slice(1, 2)),
  waysOf(bitcoin, noDeposits, amountPolicies),
];

const drawWays = (random: Random): readonly Way[] =>
  random.pick([waysByKind[0] ?? [], ...waysByKind]);

/** The first that a seed draws. */
export const drawWay = (random: Random): Way => random.pick(drawWays(random));

export const chainsPlayed = waysByKind.flatMap(([way]) => way?.kind.chainId ?? []);

/** On which chain a seed's episode plays. */
export const chainOfSeed = (seed: number): string =>
  drawWays(createRandom(seed))[0]?.kind.chainId ?? "";
