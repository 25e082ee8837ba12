/** A wallet or passkey step failed in the browser. The key selects the text to show. */
export class UserFacingError extends Error {
  override readonly name = "UserFacingError";
  readonly key: "noWallet" | "walletRefused" | "passkeyExists" | "noPasskey";

  constructor(key: UserFacingError["key"]) {
    super(key);
    this.key = key;
  }
}
