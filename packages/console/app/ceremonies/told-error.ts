/** Something between the person and their browser failed; the key names the words for it. */
export class ToldError extends Error {
  override readonly name = "ToldError";
  readonly key: "noWallet" | "walletRefused" | "passkeyExists" | "noPasskey";

  constructor(key: ToldError["key"]) {
    super(key);
    this.key = key;
  }
}
