import {
  type OwnWallet,
  type Catalogue,
  type CatalogueToken,
  type Wallet,
  createApiError,
  serializeToken,
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
export const buildWallet = (
  { id, walletAddress, token, isDefault, firstAddressIndex }: NewWallet,
  otherWallets: readonly Wallet[],
  catalogue: Catalogue,
): Wallet => {
  const tokenContract = catalogue.findTokenByAddress(token.chain.id, walletAddress);
  if (tokenContract !== undefined) throw createApiError("INVALID_WALLET_ADDRESS");
  const isDuplicate = otherWallets.some(
    (otherWallet) =>
      otherWallet.tokenId === token.id && otherWallet.walletAddress === walletAddress,
  );
  if (isDuplicate) throw createApiError("WALLET_EXISTS");
  if (otherWallets.length >= walletsMax) throw createApiError("WALLET_LIMIT");
  const isFirstOnChain = !otherWallets.some(
    (otherWallet) => catalogue.findToken(otherWallet.tokenId)?.chain.id === token.chain.id,
  );
  return {
    id,
    walletAddress,
    tokenId: token.id,
    chainType: token.chain.chainType,
    isDefault: isDefault ?? otherWallets.length === 0,
    isChainDefault: isFirstOnChain,
    provider: null,
    ...(token.chain.chainType === "BVM" && { firstAddressIndex: firstAddressIndex ?? 0 }),
  };
};

/** Which defaults a wallet becomes. What is left out stays as it is. */
export type DefaultsPatch = {
  isDefault?: boolean | undefined;
  isChainDefault?: boolean | undefined;
};

/** The wallet after a change of its defaults; undefined if nothing changes. */
export const applyDefaultsPatch = (wallet: Wallet, patch: DefaultsPatch): Wallet | undefined => {
  const isDefault = patch.isDefault ?? wallet.isDefault;
  const isChainDefault = patch.isChainDefault ?? wallet.isChainDefault;
  const isUnchanged = isDefault === wallet.isDefault && isChainDefault === wallet.isChainDefault;
  return isUnchanged ? undefined : { ...wallet, isDefault, isChainDefault };
};

/** Which wallet is to become the default, and from when on. */
export type PendingDefault = { walletId: string; effectiveAt: Date };

type DefaultDecision = {
  /** What of the change takes effect now. */
  immediatePatch: DefaultsPatch;
  /** Whether the change that waited so far is dropped. */
  isCancelled: boolean;
  /** What waits from now on, in place of what did. */
  scheduledDefault: PendingDefault | undefined;
};

/**
 * What a change of defaults does at once, and what becomes of the one that waits (rule CALLER-20). The
 * last word about the default counts; the same word again changes nothing, not even its time.
 */
export const decideDefault = (
  wallet: Pick<Wallet, "id" | "isDefault">,
  patch: DefaultsPatch,
  {
    pendingDefault,
    effectiveAt,
  }: { pendingDefault?: PendingDefault | undefined; effectiveAt?: Date | undefined },
): DefaultDecision => {
  const { isDefault: requestedDefault } = patch;
  const isPendingWallet = pendingDefault?.walletId === wallet.id;
  if (requestedDefault === true && !wallet.isDefault && effectiveAt !== undefined) {
    const scheduledDefault = isPendingWallet ? undefined : { walletId: wallet.id, effectiveAt };
    return {
      immediatePatch: { ...patch, isDefault: undefined },
      isCancelled: false,
      scheduledDefault,
    };
  }
  const endsPending = requestedDefault === true || (requestedDefault === false && isPendingWallet);
  return {
    immediatePatch: patch,
    isCancelled: endsPending && pendingDefault !== undefined,
    scheduledDefault: undefined,
  };
};

/**
 * What the audit log has of a wallet's address: of a key the first of its addresses, as the key itself
 * would tell every reader of the log all that its owner is ever paid.
 */
export const getAuditedAddress = (
  { walletAddress }: Pick<Wallet, "walletAddress">,
  firstAddresses: readonly string[] | null,
): string => firstAddresses?.[0] ?? walletAddress;

/**
 * Shows a wallet to its owner: the fields of rule API-7, its `id`, and when it becomes the default, if
 * that waits.
 */
export const serializeWallet = (
  wallet: Wallet,
  {
    token,
    checkoutUrl,
    firstAddresses,
    pendingDefault,
  }: {
    token: CatalogueToken;
    checkoutUrl: string;
    firstAddresses: string[] | null;
    pendingDefault: PendingDefault | undefined;
  },
): OwnWallet => ({
  id: wallet.id,
  walletAddress: wallet.walletAddress,
  token: { id: token.id, token: serializeToken(token, checkoutUrl) },
  chainType: wallet.chainType,
  isDefault: wallet.isDefault,
  isChainDefault: wallet.isChainDefault,
  provider: wallet.provider,
  firstAddresses,
  firstAddressIndex: wallet.firstAddressIndex ?? (firstAddresses === null ? null : 0),
  defaultAt:
    pendingDefault?.walletId === wallet.id ? pendingDefault.effectiveAt.toISOString() : null,
});
