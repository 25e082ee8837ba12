/** A seed that is known to catch faults, or to play what others do not. */
export type FixedSeed = {
  seed: number;
  /** The planted faults in `test/faults/simulation` that this seed catches. */
  catches?: readonly string[];
  /** What the episode plays, where the seed catches no planted fault. */
  plays?: string;
};

/** The seeds that `npm test` plays, in this order. They catch every planted fault at least once. */
export const seeds: readonly FixedSeed[] = [
  {
    seed: 27,
    catches: ["credits-a-completed-link", "deletes-events-before-they-are-acknowledged"],
  },
  {
    seed: 86,
    catches: ["never-retries-a-rejected-webhook", "settles-bitcoin-whatever-the-amount"],
  },
  { seed: 163, catches: ["settles-confirmed-blocks-of-solana"] },
  { seed: 72, catches: ["forgets-parked-notices", "settles-without-finality"] },
  { seed: 31, catches: ["credits-a-deactivated-link"] },
  { seed: 103, catches: ["runs-without-transactions"] },
  { seed: 112, catches: ["uses-random-event-ids"] },
  { seed: 9, catches: ["ignores-keys-of-solana-transfers"] },
  { seed: 198, catches: ["credits-links-without-locks"] },
  { seed: 585, catches: ["never-fails-a-lost-payment"] },
  {
    seed: 3010,
    plays:
      "Solana: an operator resumes a halted watch, deep forks, a deposit that is lost for good",
  },
  { seed: 692, catches: ["uses-random-payment-ids"] },
  {
    seed: 4053,
    catches: [
      "counts-a-transfer-once-for-each-reporter",
      "keeps-no-logs-of-a-large-receipt",
      "leaves-out-receipts-that-do-not-fit",
      "never-splits-a-batch-that-is-too-large",
      "halts-a-chain-by-one-provider",
    ],
  },
  {
    seed: 4004,
    catches: [
      "counts-a-transfer-once-for-each-reporter",
      "takes-every-payment-of-a-transaction-for-one",
      "lists-repeated-reports-for-attention",
    ],
  },
  { seed: 5093, catches: ["never-checks-a-refused-chain-again"] },
  { seed: 5396, catches: ["judges-lost-payments-by-nodes-that-lag"] },
  {
    seed: 5330,
    catches: [
      "leaves-early-payments-unclaimed",
      "pays-links-with-older-money",
      "reads-blocks-by-the-first-addresses",
      "never-rescans-for-a-late-link",
    ],
  },
  { seed: 43, catches: ["credits-a-payment-twice"] },
  { seed: 276, catches: ["moves-a-position-before-its-events", "skips-a-failed-chunk"] },
  {
    seed: 4,
    catches: [
      "audits-by-the-first-reader",
      "sends-events-backwards",
      "never-retries-an-interrupted-webhook",
    ],
  },
];

/** Further seeds for `npm run test:all`. */
export const soakSeeds: readonly FixedSeed[] = [
  { seed: 90194, plays: "a notice settles as expired before the chain's own report counts" },
  {
    seed: 120006,
    plays: "one transaction pays a link twice, and a notice reports the smaller part first",
  },
  { seed: 208, catches: ["deletes-events-before-they-are-acknowledged"] },
  { seed: 81, catches: ["settles-bitcoin-whatever-the-amount"] },
  { seed: 8, catches: ["ignores-keys-of-solana-transfers"] },
  { seed: 40, plays: "Bitcoin: payments leave the mempool, the broker loses its log" },
  { seed: 291, plays: "Bitcoin: payments leave the mempool, deep forks" },
  { seed: 507, plays: "Base: deep forks" },
  { seed: 544, plays: "Tron: nodes prune, the broker loses its log, deep forks" },
  { seed: 310, plays: "Base: the broker loses its log, deep forks" },
  { seed: 907, plays: "Tron: nodes prune, a restore of settlement-listener, deep forks" },
  {
    seed: 911,
    plays: "Base: nodes prune, a restore of settlement-listener, a restore of webhook-dispatcher",
  },
  {
    seed: 285,
    plays:
      "Bitcoin: nodes prune, a restore of links-api, a restore of settlement-listener, deep forks",
  },
  {
    seed: 350,
    plays:
      "Solana: nodes prune, a restore of settlement-listener, a restore of webhook-dispatcher, deep forks",
  },
  { seed: 1362, plays: "Base: the broker loses its log, deep forks" },
  { seed: 145, plays: "Bitcoin: forks and faults of the network" },
  { seed: 305, plays: "Solana: deep forks" },
  { seed: 213, plays: "Tron: nodes prune" },
  { seed: 214, plays: "Tron: nodes prune" },
  { seed: 2029, plays: "Base: forks and faults of the network" },
  { seed: 750, plays: "Base: forks and faults of the network" },
  { seed: 624, plays: "Solana: the broker loses its log" },
  { seed: 587, plays: "Base: nodes prune, a restore of webhook-dispatcher, deep forks" },
  { seed: 1823, plays: "Base: a restore of links-api" },
  { seed: 100, plays: "Solana: nodes prune, deep forks" },
  { seed: 104, catches: ["forgets-parked-notices"] },
  { seed: 159, catches: ["runs-without-transactions"] },
  { seed: 5718, catches: ["reads-blocks-by-the-first-addresses"] },
  { seed: 23, catches: ["audits-by-the-first-reader", "sends-events-backwards"] },
];
