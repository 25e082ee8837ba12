/**
 * The chain families, as the API names them: EVM chains, Solana (SVM), Tron (TVM) and Bitcoin
 * (BVM).
 */
export const chainTypes = ["EVM", "SVM", "TVM", "BVM"] as const;
export type ChainType = (typeof chainTypes)[number];
