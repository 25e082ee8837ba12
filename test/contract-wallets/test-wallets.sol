// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A wallet with one owner that can be changed (ERC-1271).
contract TestWallet {
    address public owner;

    constructor(address first) {
        owner = first;
    }

    function handOver(address next) external {
        require(msg.sender == owner);
        owner = next;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        require(signature.length == 65);
        address signer = ecrecover(
            hash,
            uint8(signature[64]),
            bytes32(signature[0:32]),
            bytes32(signature[32:64])
        );
        return signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// A wallet that anyone can take over during a call.
contract OpenWallet is TestWallet {
    constructor(address first) TestWallet(first) {}

    function take(address next) external {
        owner = next;
    }
}

contract TestWalletFactory {
    function create(address owner, bytes32 salt) external returns (address) {
        return address(new TestWallet{salt: salt}(owner));
    }
}

/// Accepts every signature as a wallet, and every call as a factory.
contract YesSayer {
    fallback() external {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            return(0, 32)
        }
    }
}

/// Consumes all gas that it receives.
contract Spinner {
    fallback() external {
        while (true) {}
    }
}

/// Returns much more data than one word.
contract Chatterer {
    fallback() external {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            return(0, 600000)
        }
    }
}
