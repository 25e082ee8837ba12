// Classifies the errors of EVM and Tron wallets. Wallets, their bridges and the nodes behind them
// report the cause in different places, and some throw a plain string. `wallet-error-responses.ts`
// lists the responses that these rules cover, with their sources. This module does not send
// requests and does not render anything.

const depthMax = 8;
const nestedFields = ["data", "originalError", "cause", "error", "info"];
const textFields = ["message", "reason", "shortMessage", "details", "name"];

/**
 * The first rule that matches an error determines its kind. A rule matches if its `pattern` or one
 * of its `codes` is anywhere in the error. `outerCodes` match only in the outermost error, because
 * nodes use the same codes with another meaning. The codes are from EIP-1193, EIP-1474, EIP-3326,
 * EIP-5792, WalletConnect, and TronLink.
 */
const rules = [
  // With these errors, a node or a bridge may already have accepted the payment.
  {
    kind: "unknown",
    pattern:
      /already known|alreadyknown|known transaction|transaction already|nonce too low|oldnonce|invalid (?:account )?nonce|underpriced|request expired/i,
  },
  // Rabby uses the code of a rejection for this error.
  {
    kind: "busy",
    pattern: /request\b.{0,80}already pending|already processing|after current approval/i,
  },
  {
    kind: "rejected",
    codes: [4001, 5000, 5001, 5002, 5003],
    pattern:
      /\buser[\s_-]?(?:reject|den(?:y|ied)|declin|cancel|disapprov|refus)|(?:reject|deni|declin|cancel|disapprov|refus)\w* by (?:the )?user/i,
  },
  {
    kind: "networkMissing",
    codes: [4902, 5100],
    pattern: /unrecognized chain|unsupported chain|wallet_addEthereumChain first/i,
  },
  { kind: "batchUnsupported", codes: [5700, 5710, 5740, 5750, 5760] },
  { kind: "reverted", pattern: /always failing transaction/i },
  {
    kind: "lacksGas",
    pattern: /insufficient funds for|gas required exceeds allowance|didn't pay prefund/i,
  },
  // Code 3 alone does not match, because WalletConnect uses it with another meaning.
  { kind: "reverted", pattern: /revert|VM execution error|VM exception/i },
  { kind: "lacksGas", pattern: /insufficient (?:funds|balance)|balance is not sufficient/i },
  {
    kind: "unreachable",
    codes: [4900, 4901, -32005],
    pattern:
      /failed to fetch|load failed|network ?error|no answer|timeout|timed out|non-200 status|too many (?:errors|requests)|header not found|could not connect/i,
  },
  { kind: "busy", codes: [4000], outerCodes: [-32002] },
  { kind: "locked", codes: [4100] },
  { kind: "unsupported", codes: [4200, 3001, 5101], outerCodes: [-32004, -32601, -32602] },
];

/** Parses the JSON object in a text. Returns undefined if there is none. */
const parseEmbeddedJson = (text) => {
  const [start, end] = [text.indexOf("{"), text.lastIndexOf("}")];
  if (start < 0 || end < start) return undefined;
  try {
    return JSON.parse(text.slice(start, end + 1));
  } catch {
    return undefined;
  }
};

/** Adds all codes and texts of an error to `details`. A text can contain another error as JSON. */
const collectDetails = (value, details, depth = 0) => {
  if (depth > depthMax || value === null || details.visited.has(value)) return;
  if (typeof value === "string") {
    details.texts.push(value);
    return collectDetails(parseEmbeddedJson(value), details, depth + 1);
  }
  if (typeof value !== "object") return;
  details.visited.add(value);
  if (value.code !== undefined && value.code !== "") details.codes.push(Number(value.code));
  for (const field of [...textFields, ...nestedFields]) {
    collectDetails(value[field], details, depth + 1);
  }
};

/** Returns the kind of a wallet's error. After an "unknown" error the payment may have been sent. */
export const classifyWalletError = (error) => {
  const details = { codes: [], texts: [], visited: new Set() };
  collectDetails(error, details);
  const outerCode = Number(error?.code);
  const matchedRule = rules.find(
    ({ codes = [], outerCodes = [], pattern }) =>
      outerCodes.includes(outerCode) ||
      details.codes.some((code) => codes.includes(code)) ||
      (pattern !== undefined && details.texts.some((text) => pattern.test(text))),
  );
  return matchedRule?.kind ?? "unknown";
};

/**
 * Returns whether the user declined to sign. TronLink reports this only as a text, which differs
 * between versions and can be misspelled. In this case the transaction was not sent, because
 * signing alone does not send it.
 */
export const isDeclinedSignature = (error) =>
  /declin|reject|cancel|cancle|denied/i.test(error?.message ?? error);

/**
 * The kinds of errors after which it is certain that the payment was not sent. After any other kind
 * it may have been sent. The last four kinds are only for Tron.
 */
export const nothingSentKinds = new Set([
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

/** A wallet's error with its kind. */
export const WalletError = class extends Error {
  constructor(kind, cause) {
    super(kind, { cause });
    this.kind = kind;
  }
};

/**
 * Converts an error to a `WalletError`. If the kind of the error is unknown, uses the kind
 * `fallback`.
 */
export const toWalletError = (error, fallback = "unknown") => {
  if (error instanceof WalletError) return error;
  const kind = classifyWalletError(error);
  return new WalletError(kind === "unknown" ? fallback : kind, error);
};
