import type { FailedTransactionMetadata } from "litesvm";

// The VM reports an error without fields as an index into these lists.
const transactionErrors = [
  "AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee",
  "InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee",
  "InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure",
  "ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion",
  "InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit",
  "TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner",
  "InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount",
  "WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded",
  "ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction",
  "ProgramCacheHitMaxLimit CommitCancelled",
]
  .join(" ")
  .split(" ");
const instructionErrors = [
  "GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall",
  "InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized",
  "UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend",
  "ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex",
  "ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged",
  "AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync",
  "InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt",
  "UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded",
  "InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation",
  "ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable",
  "IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow",
  "UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded",
  "MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError",
]
  .join(" ")
  .split(" ");

/** The error of a transaction in a node's format: a string, or an object with one key. */
export type TransactionError = string | Readonly<Record<string, unknown>>;

/** Decodes an error of the VM. */
export const decodeTransactionError = (
  failedTransaction: FailedTransactionMetadata,
): TransactionError => {
  const error: unknown = failedTransaction.err();
  if (typeof error === "number") return transactionErrors[error] ?? `Unknown${error}`;
  const name = (error as object).constructor.name.replace(/^TransactionError/, "");
  const { index, accountIndex } = error as { index?: number; accountIndex?: number };
  if (name !== "InstructionError") {
    return { [name]: index ?? { account_index: accountIndex } };
  }
  return { InstructionError: [index, decodeInstructionError((error as VmInstructionError).err())] };
};

type VmInstructionError = { err(): unknown };

const decodeInstructionError = (error: unknown): TransactionError => {
  if (typeof error === "number") return instructionErrors[error] ?? `Unknown${error}`;
  const { code } = error as { code?: number };
  return code === undefined ? "BorshIoError" : { Custom: code };
};
