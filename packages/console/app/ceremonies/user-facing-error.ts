/** Something between the person and their browser failed; the key names the words for it. */
export class UserFacingError extends Error {
  override readonly name = "UserFacingError";
  readonly key: "noWallet" | "walletRefused" | "passkeyExists" | "noPasskey";

  constructor(key: UserFacingError["key"]) {
    super(key);
    this.key = key;
  }
}
