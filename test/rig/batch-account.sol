// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// The contract to which a user's account delegates (EIP-7702) to run several calls in one transaction.
contract BatchAccount {
    struct Call {
        address to;
        bytes data;
        uint256 value;
    }

    function execute(Call[] calldata calls) external payable {
        require(msg.sender == address(this));
        for (uint256 at = 0; at < calls.length; at++) {
            (bool isDone, ) = calls[at].to.call{value: calls[at].value}(calls[at].data);
            require(isDone);
        }
    }
}
