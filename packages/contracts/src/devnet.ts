/**
 * The development chain of `npm start`, and the contracts that its first account deploys, in
 * deployment order. A contract's address depends only on its deployer and the nonce. Addresses are
 * in EIP-55 form.
 */
export const devnet = {
  chainId: "31337",
  tokenId: "usdc-devnet",
  erc20FeeProxy: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
  ethereumFeeProxy: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
  token: "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0",
} as const;
