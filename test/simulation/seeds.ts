/** A seed that is known to catch faults or to cover a rare scenario. */
export type FixedSeed = {
  seed: number;
  /** The planted faults from `test/faults/simulation` that this seed catches. */
  caughtFaults?: readonly string[];
  /** What the episode covers, if the seed does not catch a planted fault. */
  scenario?: string;
};

/** The seeds that `npm test` runs, in this order. Together they catch every planted fault. */
export const fixedSeeds: readonly FixedSeed[] = [
  {
    seed: 27,
    caughtFaults: [
      "credits-a-completed-link",
      "deletes-events-before-they-are-acknowledged",
      "judges-lost-payments-by-nodes-that-lag",
      "settles-without-finality",
    ],
  },
  { seed: 86, caughtFaults: ["settles-bitcoin-whatever-the-amount"] },
  {
    seed: 163,
    caughtFaults: [
      "moves-a-position-before-its-events",
      "never-retries-an-interrupted-webhook",
      "settles-confirmed-blocks-of-solana",
    ],
  },
  { seed: 72, caughtFaults: ["forgets-parked-notices", "runs-without-transactions"] },
  { seed: 31, caughtFaults: ["credits-a-deactivated-link"] },
  { seed: 9, caughtFaults: ["ignores-keys-of-solana-transfers"] },
  {
    seed: 3338,
    scenario: "Solana: an operator resumes a halted watch after deep forks",
  },
  { seed: 244, caughtFaults: ["uses-random-event-ids"] },
  {
    seed: 4053,
    caughtFaults: [
      "counts-a-transfer-once-for-each-reporter",
      "keeps-no-logs-of-a-large-receipt",
      "leaves-out-receipts-that-do-not-fit",
      "never-splits-a-batch-that-is-too-large",
      "halts-a-chain-by-one-provider",
    ],
  },
  {
    seed: 4004,
    caughtFaults: [
      "counts-a-transfer-once-for-each-reporter",
      "lists-repeated-reports-for-attention",
    ],
  },
  { seed: 4028, caughtFaults: ["takes-every-payment-of-a-transaction-for-one"] },
  { seed: 6002, caughtFaults: ["never-checks-a-refused-chain-again"] },
  { seed: 5396, caughtFaults: ["leaves-early-payments-unclaimed"] },
  {
    seed: 5330,
    caughtFaults: ["reads-blocks-by-the-first-addresses", "never-rescans-for-a-late-link"],
  },
  { seed: 28, caughtFaults: ["never-fails-a-lost-payment", "pays-links-with-older-money"] },
  { seed: 43, caughtFaults: ["credits-a-payment-twice"] },
  { seed: 20, caughtFaults: ["uses-random-payment-ids"] },
  {
    seed: 4,
    caughtFaults: [
      "audits-by-the-first-reader",
      "credits-links-without-locks",
      "sends-events-backwards",
      "never-retries-a-rejected-webhook",
      "skips-a-failed-chunk",
    ],
  },
];

/** Additional seeds for `npm run test:all`. */
export const soakSeeds: readonly FixedSeed[] = [
  {
    seed: 120006,
    scenario: "one transaction pays a link twice, and a notice reports the smaller part first",
  },
  { seed: 8, caughtFaults: ["ignores-keys-of-solana-transfers"] },
  { seed: 40, scenario: "Bitcoin: payments leave the mempool, the broker loses its log" },
  { seed: 291, scenario: "Bitcoin: payments leave the mempool, deep forks" },
  { seed: 507, scenario: "Base: deep forks" },
  { seed: 544, scenario: "Tron: nodes prune, the broker loses its log, deep forks" },
  { seed: 310, scenario: "Base: the broker loses its log, deep forks" },
  { seed: 907, scenario: "Tron: nodes prune, a restore of settlement-listener, deep forks" },
  {
    seed: 911,
    scenario:
      "Base: nodes prune, a restore of settlement-listener, a restore of webhook-dispatcher",
  },
  {
    seed: 285,
    scenario:
      "Bitcoin: nodes prune, a restore of links-api, a restore of settlement-listener, deep forks",
  },
  {
    seed: 350,
    scenario:
      "Solana: nodes prune, a restore of settlement-listener, a restore of webhook-dispatcher, deep forks",
  },
  { seed: 1362, scenario: "Base: the broker loses its log, deep forks" },
  { seed: 145, scenario: "Bitcoin: forks and faults of the network" },
  { seed: 305, scenario: "Solana: deep forks" },
  { seed: 213, scenario: "Tron: nodes prune" },
  { seed: 214, scenario: "Tron: nodes prune" },
  { seed: 2029, scenario: "Base: forks and faults of the network" },
  { seed: 750, scenario: "Base: forks and faults of the network" },
  { seed: 624, scenario: "Solana: the broker loses its log" },
  { seed: 587, scenario: "Base: nodes prune, a restore of webhook-dispatcher, deep forks" },
  { seed: 1823, scenario: "Base: a restore of links-api" },
  { seed: 100, scenario: "Solana: nodes prune, deep forks" },
  { seed: 104, caughtFaults: ["forgets-parked-notices"] },
  { seed: 159, caughtFaults: ["runs-without-transactions"] },
  { seed: 23, caughtFaults: ["audits-by-the-first-reader", "sends-events-backwards"] },
];
