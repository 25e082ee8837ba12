/**
 * What a wallet's error means for the payer. `wallet-errors.js` of the checkout pages uses the same
 * kinds.
 */
type WalletErrorKind =
  | "rejected"
  | "busy"
  | "locked"
  | "unsupported"
  | "networkMissing"
  | "batchUnsupported"
  | "lacksGas"
  | "reverted"
  | "unreachable"
  | "unknown";

type WalletErrorResponse = {
  wallet: string;
  /** The request that the wallet rejected with this error. */
  method: string;
  /** The value that the wallet throws: the fields of an error, or a plain string. */
  error: unknown;
  kind: WalletErrorKind;
  /**
   * The source: a repository with a path, a repository with `#` and the number of a thread, or a
   * documentation page. A thread has the date of its post. Files and pages were read on 2026-11-28.
   */
  source: string;
};

/** `Error(string)` of Solidity's ABI: "ERC20: insufficient allowance". */
const revertData =
  "0x08c379a00000000000000000000000000000000000000000000000000000000000000020" +
  "000000000000000000000000000000000000000000000000000000000000001d" +
  "45524332303a20696e73756666696369656e7420616c6c6f77616e6365000000";

const metamaskExtensionErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "MetaMask extension",
    method: "eth_sendTransaction",
    error: { code: 4001, message: "MetaMask Tx Signature: User denied transaction signature." },
    kind: "rejected",
    source: "MetaMask/metamask-mobile#1314 (2020-02-03)",
  },
  {
    wallet: "MetaMask extension, when all open requests are closed",
    method: "eth_sendTransaction",
    error: {
      code: 4001,
      message: "MetaMask Tx Signature: User denied transaction signature.",
      data: { cause: "rejectAllApprovals" },
    },
    kind: "rejected",
    source: "BoltzExchange/boltz-web-app#1220 (2026-03-06)",
  },
  {
    wallet: "MetaMask extension, a version without error codes",
    method: "eth_sendTransaction",
    error: { message: "MetaMask Tx Signature: User denied transaction signature" },
    kind: "rejected",
    source: "MetaMask/metamask-extension#5562 (2018-10-23)",
  },
  {
    wallet: "MetaMask extension",
    method: "wallet_switchEthereumChain",
    error: {
      code: -32603,
      message:
        'Unrecognized chain ID "0xa935". Try adding the chain using wallet_addEthereumChain first.',
    },
    kind: "networkMissing",
    source: "MetaMask/metamask-extension#18657 (2023-04-19)",
  },
  {
    wallet: "MetaMask extension",
    method: "eth_requestAccounts",
    error: { code: -32002, message: "Already processing eth_requestAccounts. Please wait." },
    kind: "busy",
    source: "WalletConnect/web3modal-vanilla-js-example#27 (2022-02-21)",
  },
  {
    wallet: "MetaMask extension",
    method: "eth_requestAccounts",
    error: {
      code: -32002,
      message:
        "Request of type 'wallet_requestPermissions' already pending for origin https://docs.metamask.io.",
    },
    kind: "busy",
    source: "MetaMask/metamask-extension#10584 (2021-03-04)",
  },
  {
    wallet: "MetaMask extension",
    method: "eth_estimateGas",
    error: {
      code: -32603,
      message: "Internal JSON-RPC error.",
      data: {
        code: 3,
        message: "execution reverted: ERC20: insufficient allowance",
        data: revertData,
      },
    },
    kind: "reverted",
    source: "atahanyorganci/dapp-with-react#2 (2023-08-24)",
  },
  {
    wallet: "MetaMask extension",
    method: "eth_sendTransaction",
    error: {
      code: -32603,
      message: "Internal JSON-RPC error.",
      data: { code: -32000, message: "execution reverted" },
    },
    kind: "reverted",
    source: "MetaMask/metamask-extension#7286 (2022-08-31)",
  },
  {
    wallet: "MetaMask extension, with the node's error as JSON in its message",
    method: "eth_estimateGas",
    error: {
      code: -32603,
      message: 'Internal JSON-RPC error.\n{\n "code": 3,\n "message": "execution reverted"\n}',
    },
    kind: "reverted",
    source: "OpenZeppelin/openzeppelin-contracts#3143 (2022-01-28)",
  },
  {
    wallet: "MetaMask extension with another node program",
    method: "eth_estimateGas",
    error: { code: -32016, message: "The execution failed due to an exception.", data: "Reverted" },
    kind: "reverted",
    source: "MetaMask/metamask-extension#14797 (2022-05-29)",
  },
  {
    wallet: "MetaMask extension with an older node",
    method: "eth_estimateGas",
    error: {
      code: -32000,
      message: "gas required exceeds allowance or always failing transaction",
    },
    kind: "reverted",
    source: "MetaMask/metamask-extension#2720 (2017-12-10)",
  },
  {
    wallet: "MetaMask extension",
    method: "eth_estimateGas",
    error: {
      message:
        "err: insufficient funds for gas * price + value: address " +
        "0xEd965cEAca9DE3DDE4e98109f52c3E195e3F2C91 have 508654303021506364 want 1250662775000000000 " +
        "(supplied gas 500000000)",
    },
    kind: "lacksGas",
    source: "web3/web3.js#7021 (2024-04-30)",
  },
  {
    wallet: "MetaMask extension",
    method: "eth_estimateGas",
    error: { code: -32000, message: "insufficient funds for transfer" },
    kind: "lacksGas",
    source: "MetaMask/metamask-docs#200 (2020-12-02)",
  },
  {
    wallet: "any wallet whose node reports an insufficient balance",
    method: "eth_sendTransaction",
    error: { code: -32000, message: "gas required exceeds allowance (17277)" },
    kind: "lacksGas",
    source: "dfinity/oisy-wallet#14003 (2026-09-09)",
  },
  {
    wallet: "MetaMask extension, whose node has not reached the block",
    method: "eth_call",
    error: {
      code: -32603,
      message: "Internal JSON-RPC error.",
      data: { code: -32000, message: "header not found" },
    },
    kind: "unreachable",
    source: "MetaMask/metamask-extension#13327 (2022-01-16)",
  },
  {
    wallet: "MetaMask extension, whose node rejects it",
    method: "eth_sendTransaction",
    error: {
      code: -32603,
      message: "Non-200 status code: '403'",
      data: {
        error:
          "message: API key is not allowed to access blockchain, json-rpc code: -32052, rest code: 403",
        cause: null,
      },
    },
    kind: "unreachable",
    source: "MetaMask/metamask-extension#32009 (2025-04-15)",
  },
  {
    wallet: "MetaMask extension, which may have sent it",
    method: "eth_sendTransaction",
    error: { code: -32603, message: "Internal JSON-RPC error." },
    kind: "unknown",
    source: "gosunuts/builderism#13 (2024-07-06)",
  },
];

const metamaskMobileErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "MetaMask mobile",
    method: "wallet_switchEthereumChain",
    error: {
      code: -32603,
      message:
        'Unrecognized chain ID "0x13881". Try adding the chain using wallet_addEthereumChain first.',
      data: { originalError: { code: 4902 } },
    },
    kind: "networkMissing",
    source: "Uniswap/web3-react#770 (2023-02-28)",
  },
  {
    wallet: "MetaMask mobile, before it could switch",
    method: "wallet_switchEthereumChain",
    error: {
      code: -32601,
      message: "The method wallet_switchEthereumChain does not exist/is not available",
    },
    kind: "unsupported",
    source: "MetaMask/metamask-mobile#3035 (2021-08-18)",
  },
  {
    wallet: "MetaMask mobile through WalletConnect",
    method: "eth_signTypedData_v4",
    error: { code: 4001, message: "User rejected the request." },
    kind: "rejected",
    source: "cowprotocol/cowswap#3216 (2023-10-12)",
  },
  {
    wallet: "an old MetaMask mobile",
    method: "eth_sendTransaction",
    error: {},
    kind: "unknown",
    source: "MetaMask/metamask-mobile#1314 (2020-02-03)",
  },
];

const coinbaseErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "Coinbase Wallet",
    method: "eth_sendTransaction",
    error: { message: "User denied transaction signature" },
    kind: "rejected",
    source: "MetaMask/metamask-extension#5562 (2018-10-23)",
  },
  {
    wallet: "Coinbase Wallet",
    method: "eth_requestAccounts",
    error: { message: "User denied account authorization" },
    kind: "rejected",
    source: "coinbase/coinbase-wallet-sdk#241 (2021-12-12)",
  },
  {
    wallet: "Coinbase Wallet",
    method: "wallet_switchEthereumChain",
    error: { code: 4902, message: "Unrecognized chain ID." },
    kind: "networkMissing",
    source: "coinbase/coinbase-wallet-sdk: packages/wallet-sdk/src/core/error/constants.ts",
  },
  {
    wallet: "Coinbase Wallet extension without the network",
    method: "wallet_switchEthereumChain",
    error: { code: -32603 },
    kind: "unknown",
    source: "coinbase/coinbase-wallet-sdk#915 (2023-07-05)",
  },
  {
    wallet: "Coinbase Wallet",
    method: "eth_sendTransaction",
    error: {
      code: 4100,
      message: "The requested account and/or method has not been authorized by the user.",
    },
    kind: "locked",
    source: "coinbase/coinbase-wallet-sdk: packages/wallet-sdk/src/core/error/constants.ts",
  },
];

const trustWalletErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "Trust Wallet",
    method: "eth_sendTransaction",
    error: { message: "User canceled" },
    kind: "rejected",
    source: "Uniswap/interface: apps/web/src/utils/swapErrorToUserReadableMessage.tsx",
  },
  {
    wallet: "Trust Wallet",
    method: "eth_getCode",
    error: { code: 4200, message: "EthereumProvider does not support calling eth_getCode" },
    kind: "unsupported",
    source: "trustwallet/trust-web3-provider: packages/ethereum/MobileAdapter.ts",
  },
  {
    wallet: "Trust Wallet, whose node the page's policy blocks",
    method: "eth_call",
    error: { name: "TypeError", message: "Failed to fetch" },
    kind: "unreachable",
    source: "trustwallet/trust-web3-provider#390 (2023-03-17)",
  },
];

const otherExtensionErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "OKX Wallet",
    method: "wallet_switchEthereumChain",
    error: { code: 4902 },
    kind: "networkMissing",
    source: "web3.okx.com/onchainos/dev-docs/wallet/dapp-connect/chains/evm/web-add-network",
  },
  {
    wallet: "Phantom",
    method: "eth_sendTransaction",
    error: { code: 4001, message: "The user rejected the request through Phantom." },
    kind: "rejected",
    source: "docs.phantom.com/ethereum-and-polygon/provider-api-reference/errors",
  },
  {
    wallet: "Phantom, whose dialog is open",
    method: "eth_sendTransaction",
    error: { code: -32002, message: "Requested resource not available" },
    kind: "busy",
    source: "docs.phantom.com/ethereum-and-polygon/provider-api-reference/errors",
  },
  {
    wallet: "Phantom",
    method: "eth_call",
    error: { code: 4900, message: "Phantom could not connect to the network." },
    kind: "unreachable",
    source: "docs.phantom.com/ethereum-and-polygon/provider-api-reference/errors",
  },
  {
    wallet: "Phantom",
    method: "eth_sendTransaction",
    error: { code: -32003, message: "Phantom does not recognize a valid transaction." },
    kind: "unknown",
    source: "docs.phantom.com/ethereum-and-polygon/provider-api-reference/errors",
  },
  {
    wallet: "Phantom",
    method: "eth_getBlockByNumber",
    error: { code: -32603, message: "Unexpected error" },
    kind: "unknown",
    source: "skalenetwork/portal#831 (2026-04-14)",
  },
  {
    wallet: "Rabby, whose window was closed",
    method: "eth_sendTransaction",
    error: { code: 4001, message: "User rejected the request." },
    kind: "rejected",
    source: "RabbyHub/Rabby: src/background/service/notification.ts",
  },
  {
    wallet: "Rabby",
    method: "eth_sendTransaction",
    error: { code: 4001, message: "User Cancel" },
    kind: "rejected",
    source: "RabbyHub/Rabby: src/background/service/notification.ts",
  },
  {
    wallet: "Rabby, with another request open",
    method: "eth_requestAccounts",
    error: { code: 4001, message: "please request after current approval resolve" },
    kind: "busy",
    source: "RabbyHub/Rabby: src/background/service/notification.ts",
  },
  {
    wallet: "Rabby",
    method: "wallet_sendCalls",
    error: { code: -32601, message: "method [wallet_sendCalls] doesn't has corresponding handler" },
    kind: "unsupported",
    source: "RabbyHub/Rabby: src/background/controller/provider/rpcFlow.ts",
  },
];

const ledgerErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "Ledger Live, declined on the device",
    method: "eth_sendTransaction",
    error: { name: "UserRefusedOnDevice", message: "" },
    kind: "rejected",
    source: "LedgerHQ/ledger-live-common#712 (2020-06-10)",
  },
  {
    wallet: "Ledger device, declined",
    method: "eth_sendTransaction",
    error: {
      name: "TransportStatusError",
      message: "Ledger device: Condition of use not satisfied (denied by the user?) (0x6985)",
      statusCode: 27_013,
      statusText: "CONDITIONS_OF_USE_NOT_SATISFIED",
    },
    kind: "rejected",
    source: "Neufund/ledger-experiments: README.md",
  },
  {
    wallet: "Ledger device, whose settings do not allow contract data",
    method: "eth_sendTransaction",
    error: {
      name: "TransportStatusError",
      message: "Ledger device: Invalid data received (0x6a80)",
      statusCode: 27_264,
      statusText: "INCORRECT_DATA",
    },
    kind: "unknown",
    source: "Neufund/ledger-experiments: README.md",
  },
];

const safeErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "Safe, which returns the same code for every error",
    method: "eth_sendTransaction",
    error: { code: -32000, message: "User rejected transaction" },
    kind: "rejected",
    source:
      "safe-global/safe-wallet-monorepo: apps/web/src/services/safe-wallet-provider/index.ts and " +
      "useSafeWalletProvider.tsx",
  },
  {
    wallet: "Safe, which returns the same code for every error",
    method: "wallet_switchEthereumChain",
    error: { code: -32000, message: "Unsupported chain" },
    kind: "networkMissing",
    source: "safe-global/safe-wallet-monorepo: apps/web/src/services/safe-wallet-provider/index.ts",
  },
  {
    wallet: "Safe, for an unknown batch",
    method: "wallet_getCallsStatus",
    error: { code: -32000, message: "Transaction not found" },
    kind: "unknown",
    source: "safe-global/safe-wallet-monorepo: apps/web/src/services/safe-wallet-provider/index.ts",
  },
];

const walletConnectErrors: readonly WalletErrorResponse[] = [
  {
    wallet: "WalletConnect bridge",
    method: "eth_sendTransaction",
    error: { code: 5000, message: "User rejected." },
    kind: "rejected",
    source: "WalletConnect/walletconnect-monorepo: packages/utils/src/errors.ts",
  },
  {
    wallet: "WalletConnect bridge, without a message",
    method: "eth_sendTransaction",
    error: { code: 5000, message: "" },
    kind: "rejected",
    source: "wevm/viem#1045 (2023-08-21)",
  },
  {
    wallet: "WalletConnect bridge",
    method: "eth_sendTransaction",
    error: { code: 5002, message: "User rejected methods." },
    kind: "rejected",
    source: "antonio-fr/pyWalletConnect#16 (2023-07-11)",
  },
  {
    wallet: "WalletConnect bridge, with the wallet's error as JSON in its message",
    method: "wallet_switchEthereumChain",
    error: {
      message:
        '{"message":"Unrecognized chain ID 0x89. Try adding the chain using wallet_addEthereumChain first.",' +
        '"code":4902}',
    },
    kind: "networkMissing",
    source: "AlphaWallet/alpha-wallet-ios#3887 (2022-02-14)",
  },
  {
    wallet: "WalletConnect bridge to MetaMask without the network",
    method: "wallet_switchEthereumChain",
    error: { code: -32603, message: "Internal error" },
    kind: "unknown",
    source: "WalletConnect/walletconnect-monorepo#2825 (2023-06-28)",
  },
  {
    wallet: "WalletConnect bridge to Tangem",
    method: "wallet_switchEthereumChain",
    error: { code: 0, message: "" },
    kind: "unknown",
    source: "LFDT-Lineth/lineth-monorepo#2469 (2026-02-23)",
  },
  {
    wallet: "WalletConnect bridge, whose wallet can still sign",
    method: "eth_sendTransaction",
    error: { message: "Request expired. Please try again." },
    kind: "unknown",
    source: "WalletConnect/walletconnect-monorepo#4181 (2024-01-26)",
  },
  {
    wallet: "WalletConnect bridge, whose code 3 is not a revert",
    method: "eth_sendTransaction",
    error: { code: 3, message: "Restore will override." },
    kind: "unknown",
    source: "WalletConnect/walletconnect-monorepo: packages/utils/src/errors.ts",
  },
  {
    wallet: "WalletConnect bridge",
    method: "eth_sendTransaction",
    error: { code: 5101, message: "Unsupported methods." },
    kind: "unsupported",
    source: "WalletConnect/walletconnect-monorepo: packages/utils/src/errors.ts",
  },
];

const batchErrors: readonly WalletErrorResponse[] = [5700, 5710, 5740, 5750, 5760].map((code) => ({
  wallet: `any wallet (EIP-5792, ${code})`,
  method: "wallet_sendCalls",
  error: { code, message: "" },
  kind: "batchUnsupported",
  source: "ethereum/EIPs#9601 (2025-04-04)",
}));

const duplicateBatchErrors: readonly WalletErrorResponse[] = [5720, 5730].map((code) => ({
  wallet: `any wallet (EIP-5792, ${code})`,
  method: "wallet_sendCalls",
  error: { code, message: "" },
  kind: "unknown",
  source: "ethereum/EIPs#9601 (2025-04-04)",
}));

/** Errors of wallets for EVM chains. */
export const evmErrorResponses: readonly WalletErrorResponse[] = [
  ...metamaskExtensionErrors,
  ...metamaskMobileErrors,
  ...coinbaseErrors,
  ...trustWalletErrors,
  ...otherExtensionErrors,
  ...ledgerErrors,
  ...safeErrors,
  ...walletConnectErrors,
  ...batchErrors,
  ...duplicateBatchErrors,
];

/** Errors of wallets for Tron. */
export const tronErrorResponses: readonly WalletErrorResponse[] = [
  {
    wallet: "TronLink extension, as a string",
    method: "trx.sign",
    error: "Confirmation declined by user",
    kind: "rejected",
    source: "MultipleChain/tron-js: src/utils.js",
  },
  {
    wallet: "TronLink extension",
    method: "trx.sign",
    error: { code: 4001, message: "" },
    kind: "rejected",
    source: "docs.tronlink.org/dapp/transfer",
  },
  {
    wallet: "TronLink",
    method: "eth_requestAccounts",
    error: { code: 4001, message: "The user rejected connection." },
    kind: "rejected",
    source: "tronprotocol/tronwallet-adapter: packages/adapters/tronlink/src/adapter.ts",
  },
  {
    wallet: "TronLink, with the same request open",
    method: "tron_requestAccounts",
    error: { code: 4000, message: "" },
    kind: "busy",
    source: "tronprotocol/tronwallet-adapter: packages/adapters/tronlink/src/adapter.ts",
  },
  {
    wallet: "TronLink, with its window open",
    method: "eth_requestAccounts",
    error: { code: -32002, message: "" },
    kind: "busy",
    source: "tronprotocol/tronwallet-adapter: packages/adapters/tronlink/src/adapter.ts",
  },
  {
    wallet: "TronLink",
    method: "wallet_switchEthereumChain",
    error: { code: 4200, message: "" },
    kind: "unsupported",
    source: "docs.tronlink.org/reference/error-code-map",
  },
  {
    wallet: "WalletConnect bridge",
    method: "trx.sign",
    error: { name: "WalletSignTransactionError", message: "User rejected the request." },
    kind: "rejected",
    source: "MultipleChain/tron-js: src/utils.js",
  },
  {
    wallet: "Trust Wallet, which may have sent what it signed",
    method: "trx.sign",
    error: { code: -32603, message: "Internal error" },
    kind: "unknown",
    source: "trustwallet/wallet-core#4875 (2026-09-15)",
  },
  {
    wallet: "TronLink, whose node does not respond",
    method: "trx.getAccountResources",
    error: { name: "AxiosError", message: "Network Error", code: "ERR_NETWORK" },
    kind: "unreachable",
    source: "docs.tronlink.org/reference/error-code-map",
  },
  {
    wallet: "TronLink, for a failing call",
    method: "transactionBuilder.triggerConstantContract",
    error: { message: "REVERT opcode executed" },
    kind: "reverted",
    source: "tronprotocol/java-tron: actuator/src/main/java/org/tron/core/actuator/VMActuator.java",
  },
];
