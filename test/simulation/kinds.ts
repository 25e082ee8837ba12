/** What must happen at least once in a run, or the run shows less than it claims. */
const kinds = [
  /^crash of links-api/,
  /^crash of settlement-listener/,
  /^crash of webhook-dispatcher/,
  /^sql: crash/,
  /^sql: fail/,
  /^sql: late/,
  /^publish: /,
  /^rebalance/,
  /^the broker goes or comes/,
  /^waited for a lock/,
  /^forks/,
  /^episodes on EVM/,
  /^episodes on TVM/,
  /^episodes on SVM/,
  /^episodes on BVM/,
  /^payments foreseen/,
  /^payments taken back/,
  /^replacements/,
  /^payments on chain/,
  /^a node (lags|stands still|is silent|refuses)/,
  /^a node (omits|renames|invents|alters)/,
  /^a node prunes/,
  /^questions for what a node has forgotten/,
  /^deep forks/,
  /^operators: resume/,
  /^operators: rescan/,
  /^operators: republish/,
  /^restore of/,
  /^the broker loses its log/,
  /^deposits on/,
  /^webhooks received/,
  /^webhooks refused/,
];

/** The kinds of trouble that did not happen in a run, by the counts of the run. */
export const listMissingKinds = (counts: ReadonlyMap<string, number>): readonly RegExp[] =>
  kinds.filter((kind) => ![...counts.keys()].some((what) => kind.test(what)));
