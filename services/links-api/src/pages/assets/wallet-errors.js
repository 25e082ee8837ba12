// What an error of a wallet means, for EVM and Tron. Wallets, their bridges and the nodes behind them put the
// cause in different places, and some throw a plain string. The responses that this was written for stand in
// `wallet-error-responses.ts`, with their sources. It asks nobody, and shows nothing.

const depthMax = 8;
const nestedFields = ["data", "originalError", "cause", "error", "info"];
const textFields = ["message", "reason", "shortMessage", "details", "name"];

/**
 * The first rule that matches decides: by a text or one of its `codes` anywhere in an error, or by one of its
 * `outerCodes` in the error itself, as a node uses those too. Codes: EIP-1193, EIP-1474, EIP-3326, EIP-5792,
 * WalletConnect's, and TronLink's.
 */
const rules = [
  // A node or a bridge may have the payment.
  {
    kind: "unknown",
    text: /already known|alreadyknown|known transaction|transaction already|nonce too low|oldnonce|invalid (?:account )?nonce|underpriced|request expired/i,
  },
  // Rabby answers this with the code of a rejection.
  {
    kind: "busy",
    text: /request\b.{0,80}already pending|already processing|after current approval/i,
  },
  {
    kind: "rejected",
    codes: [4001, 5000, 5001, 5002, 5003],
    text: /\buser[\s_-]?(?:reject|den(?:y|ied)|declin|cancel|disapprov|refus)|(?:reject|deni|declin|cancel|disapprov|refus)\w* by (?:the )?user/i,
  },
  {
    kind: "networkMissing",
    codes: [4902, 5100],
    text: /unrecognized chain|unsupported chain|wallet_addEthereumChain first/i,
  },
  { kind: "batchUnsupported", codes: [5700, 5710, 5740, 5750, 5760] },
  { kind: "reverted", text: /always failing transaction/i },
  {
    kind: "lacksGas",
    text: /insufficient funds for|gas required exceeds allowance|didn't pay prefund/i,
  },
  // A bare code 3 is also WalletConnect's own.
  { kind: "reverted", text: /revert|VM execution error|VM exception/i },
  { kind: "lacksGas", text: /insufficient (?:funds|balance)|balance is not sufficient/i },
  {
    kind: "unreachable",
    codes: [4900, 4901, -32005],
    text: /failed to fetch|load failed|network ?error|no answer|timeout|timed out|non-200 status|too many (?:errors|requests)|header not found|could not connect/i,
  },
  { kind: "busy", codes: [4000], outerCodes: [-32002] },
  { kind: "locked", codes: [4100] },
  { kind: "unsupported", codes: [4200, 3001, 5101], outerCodes: [-32004, -32601, -32602] },
];

const parse = (text) => {
  const [start, end] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (start < 0 || end < start) return undefined;
  try {
    return JSON.parse(text.slice(start, end + 1));
  } catch {
    return undefined;
  }
};

/** Puts every code and text of an error into `found`; a text may hold an error as JSON. */
const collect = (part, found, depth = 0) => {
  if (depth > depthMax || part === null || found.seen.has(part)) return;
  if (typeof part === "string") {
    found.texts.push(part);
    return collect(parse(part), found, depth + 1);
  }
  if (typeof part !== "object") return;
  found.seen.add(part);
  if (part.code !== undefined && part.code !== "") found.codes.push(Number(part.code));
  for (const field of [...textFields, ...nestedFields]) collect(part[field], found, depth + 1);
};

/** What an error of a wallet means; "unknown" where nobody can say, as after it the payment may have been sent. */
export const classify = (error) => {
  const found = { codes: [], texts: [], seen: new Set() };
  collect(error, found);
  const outerCode = Number(error?.code);
  const rule = rules.find(
    ({ codes = [], outerCodes = [], text }) =>
      outerCodes.includes(outerCode) ||
      found.codes.some((code) => codes.includes(code)) ||
      (text !== undefined && found.texts.some((one) => text.test(one))),
  );
  return rule?.kind ?? "unknown";
};

/** TronLink rejects in words alone, which differ by its version and misspell one. Nothing is sent by signing. */
export const isDeclinedSignature = (error) =>
  /declin|reject|cancel|cancle|denied/i.test(error?.message ?? error);

/** After an error of these kinds nothing was sent; after any other it may have been. The last four are Tron's. */
export const nothingSent = new Set([
  "rejected",
  "busy",
  "locked",
  "unsupported",
  "networkMissing",
  "batchUnsupported",
  "lacksGas",
  "reverted",
  "different",
  "nodeRefused",
  "lacksBandwidth",
  "late",
]);

/** An error of a wallet, by what it means. */
export const WalletFault = class extends Error {
  constructor(kind, cause) {
    super(kind, { cause });
    this.kind = kind;
  }
};

/** A wallet's error as a fault; `fallback` is its kind where nobody can say. */
export const toFault = (error, fallback = "unknown") => {
  if (error instanceof WalletFault) return error;
  const kind = classify(error);
  return new WalletFault(kind === "unknown" ? fallback : kind, error);
};
