// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A standard ERC-20 with any number of decimals, and the base of the unusual tokens below.
contract PlainToken {
  string public name;
  string public symbol;
  uint8 public immutable decimals;

  uint256 public totalSupply;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  constructor(string memory symbol_, uint8 decimals_) {
    name = symbol_;
    symbol = symbol_;
    decimals = decimals_;
  }

  function mint(address to, uint256 value) external {
    totalSupply += value;
    balanceOf[to] += value;
    emit Transfer(address(0), to, value);
  }

  function approve(address spender, uint256 value) external returns (bool) {
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
    return true;
  }

  function transferFrom(address from, address to, uint256 value) external virtual returns (bool) {
    allowance[from][msg.sender] -= value;
    move(from, to, value);
    return true;
  }

  function transfer(address to, uint256 value) external virtual returns (bool) {
    move(msg.sender, to, value);
    return true;
  }

  function move(address from, address to, uint256 value) internal {
    balanceOf[from] -= value;
    balanceOf[to] += value;
    emit Transfer(from, to, value);
  }
}

/// Withholds 1% of each transfer, so the recipient gets less than the proxy's event reports.
contract FeeOnTransferToken is PlainToken {
  address public constant collector = address(0xfee);

  constructor() PlainToken("FEE", 6) {}

  function transferFrom(address from, address to, uint256 value) external override returns (bool) {
    allowance[from][msg.sender] -= value;
    uint256 fee = value / 100;
    move(from, to, value - fee);
    move(from, collector, fee);
    return true;
  }

  function transfer(address to, uint256 value) external override returns (bool) {
    uint256 fee = value / 100;
    move(msg.sender, to, value - fee);
    move(msg.sender, collector, fee);
    return true;
  }
}

/// Returns true without transferring anything, so the proxy still emits a correct event.
contract IdleToken is PlainToken {
  constructor() PlainToken("IDLE", 6) {}

  function transferFrom(address, address, uint256) external pure override returns (bool) {
    return true;
  }
}

/// Rejects transfers from or to an account on its blocklist, like many stablecoins.
contract BlockingToken is PlainToken {
  mapping(address => bool) public isBlocked;

  constructor() PlainToken("BLOCK", 6) {}

  function blockAccount(address account) external {
    isBlocked[account] = true;
  }

  function transferFrom(address from, address to, uint256 value) external override returns (bool) {
    require(!isBlocked[from] && !isBlocked[to], "blocked");
    allowance[from][msg.sender] -= value;
    move(from, to, value);
    return true;
  }
}

/// Behaves like Tether on Ethereum. Functions do not return a value, and an allowance can only be
/// changed from or to 0.
contract SilentToken {
  string public constant name = "Silent";
  string public constant symbol = "SILENT";
  uint8 public constant decimals = 6;

  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;

  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  function mint(address to, uint256 value) external {
    balanceOf[to] += value;
    emit Transfer(address(0), to, value);
  }

  function approve(address spender, uint256 value) external {
    require(value == 0 || allowance[msg.sender][spender] == 0, "reset the allowance first");
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
  }

  function transferFrom(address from, address to, uint256 value) external {
    allowance[from][msg.sender] -= value;
    balanceOf[from] -= value;
    balanceOf[to] += value;
    emit Transfer(from, to, value);
  }
}
