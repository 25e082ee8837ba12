// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface Proxy {
  function transferFromWithReferenceAndFee(
    address token,
    address to,
    uint256 amount,
    bytes calldata paymentReference,
    uint256 feeAmount,
    address feeAddress
  ) external;
}

interface Token {
  function approve(address spender, uint256 value) external;
}

/// Emits the very event of the real proxy, and moves no money.
contract FakeProxy {
  event TransferWithReferenceAndFee(
    address tokenAddress,
    address to,
    uint256 amount,
    bytes indexed paymentReference,
    uint256 feeAmount,
    address feeAddress
  );

  function transferFromWithReferenceAndFee(
    address token,
    address to,
    uint256 amount,
    bytes calldata paymentReference,
    uint256 feeAmount,
    address feeAddress
  ) external {
    emit TransferWithReferenceAndFee(token, to, amount, paymentReference, feeAmount, feeAddress);
  }
}

/// Pays several times in one transaction, as a smart account does; it must hold the tokens itself.
contract BatchPayer {
  struct PaymentOrder {
    address token;
    address to;
    uint256 amount;
    bytes paymentReference;
  }

  function pay(Proxy proxy, PaymentOrder[] calldata payments) public virtual {
    for (uint256 i = 0; i < payments.length; i++) {
      PaymentOrder calldata one = payments[i];
      Token(one.token).approve(address(proxy), one.amount);
      proxy.transferFromWithReferenceAndFee(
        one.token, one.to, one.amount, one.paymentReference, 0, address(0)
      );
    }
  }
}

/// Emits one log more in every other block: mined again, a payment may stand at another place among its
/// receipt's logs.
contract FicklePayer is BatchPayer {
  event OddBlock();

  function pay(Proxy proxy, PaymentOrder[] calldata payments) public override {
    if (block.number % 2 == 1) emit OddBlock();
    super.pay(proxy, payments);
  }
}

/// Does what it is told, as contract wallets do: of what it calls the transaction's calldata tells only in parts.
contract ContractWallet {
  function execute(address[] calldata to, bytes[] calldata data) external {
    for (uint256 i = 0; i < to.length; i++) {
      (bool isDone, ) = to[i].call(data[i]);
      require(isDone, "a call failed");
    }
  }
}
