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

/// Emits the same event as the real proxy but does not transfer any tokens.
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

/// Makes several payments in one transaction, like a smart account. It must hold the tokens itself.
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

/// Emits an additional log in every other block. When a payment is mined again, its index in the
/// receipt's logs can differ.
contract FicklePayer is BatchPayer {
  event OddBlock();

  function pay(Proxy proxy, PaymentOrder[] calldata payments) public override {
    if (block.number % 2 == 1) emit OddBlock();
    super.pay(proxy, payments);
  }
}

/// Executes any calls, like a contract wallet. They are nested in the transaction's own calldata.
contract ContractWallet {
  function execute(address[] calldata to, bytes[] calldata data) external {
    for (uint256 i = 0; i < to.length; i++) {
      (bool isDone, ) = to[i].call(data[i]);
      require(isDone, "a call failed");
    }
  }
}
