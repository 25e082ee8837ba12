export { parseBitcoinAddress, toBitcoinScriptPubKey } from "./bitcoin/address.ts";
export { computeBitcoinKeyId, deriveBitcoinAddresses } from "./bitcoin/key.ts";
export { buildBitcoinUri } from "./bitcoin/payment-uri.ts";
export type { ChainFamily, LinkAddresses } from "./chain-family.ts";
export { getChainSource } from "./chain-source.ts";
export { type ChainType, chainTypes } from "./chain-types.ts";
export { isEvmAddress, toEip55 } from "./evm/address.ts";
export type { ContractCalls, PaymentStep } from "./evm/fee-proxy.ts";
export { paymentWays } from "./evm/payment-ways.ts";
export { buildExplorerUrl } from "./explorer.ts";
export {
  type WalletFault,
  getFamily,
  isSameAddress,
  listWalletApps,
  needsAddressPerLink,
  parseWallet,
} from "./families.ts";
export { type Instructions, getPaymentUri, isSolanaTokenTransfer } from "./instructions.ts";
export { keccak256Hex } from "./keccak.ts";
export { mayBePrivateKey } from "./private-key.ts";
export { parseSolanaAddress } from "./solana/address.ts";
export type { SolanaTokenTransfer } from "./solana/instructions.ts";
export { deriveSolanaReference } from "./solana/payment-reference.ts";
export {
  buildSolanaTransactionRequestUrl,
  buildSolanaTransferRequestUrl,
} from "./solana/payment-uri.ts";
export {
  deriveAssociatedTokenAccount,
  getTokenProgram,
  solanaTokenPrograms,
} from "./solana/token-account.ts";
export { encodeSolanaPayment } from "./solana/transaction.ts";
export type { TronCall } from "./tron/tron-call.ts";
