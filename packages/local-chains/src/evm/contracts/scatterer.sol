// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface Token {
  function mint(address to, uint256 value) external;
  function transfer(address to, uint256 value) external returns (bool);
}

/// Sends a token to the named accounts and to many other accounts in one transaction. The other
/// accounts are the same every 10 blocks, because the node stores the changes of each block.
contract Scatterer {
  function scatter(Token token, address[] calldata named, uint256 strangerCount, uint256 value) external {
    token.mint(address(this), (named.length + strangerCount) * value);
    for (uint256 i = 0; i < named.length; i++) token.transfer(named[i], value);
    for (uint256 i = 0; i < strangerCount; i++) {
      token.transfer(address(uint160(uint256(keccak256(abi.encode(block.number % 10, i))))), value);
    }
  }
}
