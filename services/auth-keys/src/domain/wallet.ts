import { getFamily } from "@payment-links/chains";
import {
  type OwnWallet,
  type Catalogue,
  type CatalogueToken,
  type Wallet,
  createApiError,
  getChainMode,
  getWalletMode,
  serializeToken,
} from "@payment-links/contracts";

/** The maximum number of wallets per account. */
export const walletsMax = 50;

type NewWallet = {
  id: string;
  walletAddress: string;
  token: CatalogueToken;
  isDefault: boolean | undefined;
  firstAddressIndex: number | undefined;
};

/**
 * Builds a new wallet of an account. Its chain determines its mode. The account's first wallet of a
 * mode becomes that mode's default unless `isDefault` says otherwise. The first wallet on a chain
 * becomes that chain's default. A token's own contract is rejected, because money sent there is
 * lost. Throws INVALID_WALLET_ADDRESS, WALLET_EXISTS or WALLET_LIMIT.
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
  const mode = getChainMode(token.chain);
  const isFirstInMode = !otherWallets.some((otherWallet) => getWalletMode(otherWallet) === mode);
  const isFirstOnChain = !otherWallets.some(
    (otherWallet) => catalogue.findToken(otherWallet.tokenId)?.chain.id === token.chain.id,
  );
  return {
    id,
    walletAddress,
    tokenId: token.id,
    chainType: token.chain.chainType,
    isDefault: isDefault ?? isFirstInMode,
    isChainDefault: isFirstOnChain,
    provider: null,
    mode,
    ...(getFamily(token.chain.chainType).linkAddresses !== undefined && {
      firstAddressIndex: firstAddressIndex ?? 0,
    }),
  };
};

/** A change to a wallet's default flags. Omitted fields stay unchanged. */
export type DefaultsPatch = {
  isDefault?: boolean | undefined;
  isChainDefault?: boolean | undefined;
};

/** Returns the wallet after a change of its defaults, or undefined if nothing changes. */
export const applyDefaultsPatch = (wallet: Wallet, patch: DefaultsPatch): Wallet | undefined => {
  const isDefault = patch.isDefault ?? wallet.isDefault;
  const isChainDefault = patch.isChainDefault ?? wallet.isChainDefault;
  const isUnchanged = isDefault === wallet.isDefault && isChainDefault === wallet.isChainDefault;
  return isUnchanged ? undefined : { ...wallet, isDefault, isChainDefault };
};

/** The wallet that will become the default, and when. */
export type PendingDefault = { walletId: string; effectiveAt: Date };

type DefaultDecision = {
  /** The part of the change that takes effect immediately. */
  immediatePatch: DefaultsPatch;
  /** Whether the pending change is cancelled. */
  isCancelled: boolean;
  /** The new pending change, which replaces the previous one. */
  scheduledDefault: PendingDefault | undefined;
};

/**
 * Decides which part of a change to the defaults takes effect immediately, and what happens to the
 * pending change (rule CALLER-20). A new request replaces the pending one. Repeating the pending
 * request does not restart its delay.
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
 * Returns the address that the audit log shows. For a Bitcoin key, this is its first address. The
 * key itself would reveal all of the owner's payments to everyone who can read the log.
 */
export const getAuditedAddress = (
  { walletAddress }: Pick<Wallet, "walletAddress">,
  firstAddresses: readonly string[] | null,
): string => firstAddresses?.[0] ?? walletAddress;

/**
 * Serializes a wallet for its owner: the fields of rule API-7, its `id`, and the time at which it
 * becomes the default, if that is pending.
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
  mode: getWalletMode(wallet),
  firstAddresses,
  firstAddressIndex: wallet.firstAddressIndex ?? (firstAddresses === null ? null : 0),
  defaultAt:
    pendingDefault?.walletId === wallet.id ? pendingDefault.effectiveAt.toISOString() : null,
});
