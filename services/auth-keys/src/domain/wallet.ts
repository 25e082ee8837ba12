import {
  type OwnWallet,
  type Catalogue,
  type CatalogueToken,
  type Wallet,
  refuse,
  showToken,
} from "@payment-links/contracts";

/** How many wallets an account may have at once. */
export const walletsMax = 50;

type NewWallet = {
  id: string;
  walletAddress: string;
  token: CatalogueToken;
  isDefault: boolean | undefined;
  firstAddressIndex: number | undefined;
};

/**
 * Opens a wallet beside an account's others. The first one becomes the default unless told
 * otherwise, and the first one on a chain becomes that chain's default. A token's own contract is
 * no wallet: money sent there is lost. Throws INVALID_WALLET_ADDRESS, WALLET_EXISTS, WALLET_LIMIT.
 */
export const openWallet = (
  { id, walletAddress, token, isDefault, firstAddressIndex }: NewWallet,
  others: readonly Wallet[],
  catalogue: Catalogue,
): Wallet => {
  const contract = catalogue.findTokenByAddress(token.chain.id, walletAddress);
  if (contract !== undefined) throw refuse("INVALID_WALLET_ADDRESS");
  const isKnown = others.some(
    (other) => other.tokenId === token.id && other.walletAddress === walletAddress,
  );
  if (isKnown) throw refuse("WALLET_EXISTS");
  if (others.length >= walletsMax) throw refuse("WALLET_LIMIT");
  const isFirstOnChain = !others.some(
    (other) => catalogue.findToken(other.tokenId)?.chain.id === token.chain.id,
  );
  return {
    id,
    walletAddress,
    tokenId: token.id,
    chainType: token.chain.chainType,
    isDefault: isDefault ?? others.length === 0,
    isChainDefault: isFirstOnChain,
    provider: null,
    ...(token.chain.chainType === "BVM" && { firstAddressIndex: firstAddressIndex ?? 0 }),
  };
};

/** Which defaults a wallet becomes. What is left out stays as it is. */
export type DefaultsChange = {
  isDefault?: boolean | undefined;
  isChainDefault?: boolean | undefined;
};

/** The wallet after a change of its defaults; undefined if nothing changes. */
export const changeDefaults = (wallet: Wallet, change: DefaultsChange): Wallet | undefined => {
  const isDefault = change.isDefault ?? wallet.isDefault;
  const isChainDefault = change.isChainDefault ?? wallet.isChainDefault;
  const isSame = isDefault === wallet.isDefault && isChainDefault === wallet.isChainDefault;
  return isSame ? undefined : { ...wallet, isDefault, isChainDefault };
};

/** Which wallet is to become the default, and from when on. */
export type PendingDefault = { walletId: string; effectiveAt: Date };

type DefaultDecision = {
  /** What of the change takes effect now. */
  atOnce: DefaultsChange;
  /** Whether the change that waited so far is dropped. */
  isCancelled: boolean;
  /** What waits from now on, in place of what did. */
  scheduled: PendingDefault | undefined;
};

/**
 * What a change of defaults does at once, and what becomes of the one that waits (rule CALLER-20). The
 * last word about the default counts; the same word again changes nothing, not even its time.
 */
export const decideDefault = (
  wallet: Pick<Wallet, "id" | "isDefault">,
  change: DefaultsChange,
  { pending, waitsUntil }: { pending?: PendingDefault | undefined; waitsUntil?: Date | undefined },
): DefaultDecision => {
  const { isDefault: wish } = change;
  const isItself = pending?.walletId === wallet.id;
  if (wish === true && !wallet.isDefault && waitsUntil !== undefined) {
    const scheduled = isItself ? undefined : { walletId: wallet.id, effectiveAt: waitsUntil };
    return { atOnce: { ...change, isDefault: undefined }, isCancelled: false, scheduled };
  }
  const isOver = wish === true || (wish === false && isItself);
  return { atOnce: change, isCancelled: isOver && pending !== undefined, scheduled: undefined };
};

/**
 * What the audit log has of a wallet's address: of a key the first of its addresses, as the key itself
 * would tell every reader of the log all that its owner is ever paid.
 */
export const auditedAddress = (
  { walletAddress }: Pick<Wallet, "walletAddress">,
  firstAddresses: readonly string[] | null,
): string => firstAddresses?.[0] ?? walletAddress;

/**
 * Shows a wallet to its owner: the fields of rule API-7, its `id`, and when it becomes the default, if
 * that waits.
 */
export const showWallet = (
  wallet: Wallet,
  {
    token,
    checkoutUrl,
    firstAddresses,
    pending,
  }: {
    token: CatalogueToken;
    checkoutUrl: string;
    firstAddresses: string[] | null;
    pending: PendingDefault | undefined;
  },
): OwnWallet => ({
  id: wallet.id,
  walletAddress: wallet.walletAddress,
  token: { id: token.id, token: showToken(token, checkoutUrl) },
  chainType: wallet.chainType,
  isDefault: wallet.isDefault,
  isChainDefault: wallet.isChainDefault,
  provider: wallet.provider,
  firstAddresses,
  firstAddressIndex: wallet.firstAddressIndex ?? (firstAddresses === null ? null : 0),
  defaultAt: pending?.walletId === wallet.id ? pending.effectiveAt.toISOString() : null,
});
