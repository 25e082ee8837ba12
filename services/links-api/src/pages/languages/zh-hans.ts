import type { Texts } from "./en.ts";

/** All Chinese texts, in simplified characters. */
export const chinese: Texts = {
  checkout: {
    states: {
      partial: "已收到 {received}，共需 {asked} {symbol}，还差 {remaining}。",
      remainderTooSmall:
        "已收到 {received}，共需 {asked} {symbol}。剩余的 {remaining} {symbol} 金额过小，无法在 {chain} 上发送。请勿再转账。请让商家关闭此链接。",
      completed: "付款完成",
      paymentLimitReached:
        "付款次数已达上限：已收到 {received}，共需 {asked} {symbol}。请勿重复付款。",
    },
    ended: {
      expired: {
        title: "此付款链接已过期。",
        text: "请勿转账。请向商家索取新链接。",
      },
      inactive: {
        title: "商家已关闭此付款链接。",
        text: "请勿转账。如果您仍想付款，请向商家索取新链接。",
      },
      suspended: {
        title: "此付款链接已暂停。",
        text: "本网站的运营方已暂停该商家的账户。请勿转账。请联系商家。",
      },
    },
    cannotPay: "无法在此付款",
    unpayable: {
      chain_not_watched:
        "此页面无法跟踪 {chain} 上的付款。请向商家咨询付款方式。请勿自行向任何地址转账。",
      no_fee_proxy:
        "此代币在 {chain} 上没有付款合约。请向商家咨询付款方式。请勿自行向任何地址转账。",
      amount_not_payable: "此金额无法在 {chain} 上发送。请向商家索取其他金额的链接。",
      destination_not_payable:
        "商家无法动用 {chain} 上此地址中的资金。请向商家索取使用其他地址的链接。请勿向此地址转账。",
    },
    testNetwork: "{chain} 是测试网络，不涉及真实资金。",
    unverified: "本网站的运营方尚未验证此商家。请仅在您认识并信任对方时付款。",
    seen: "已检测到 {amount} {symbol} 的付款。请勿重复付款。",
    wrongToken:
      "已收到 {amount} {wrong}，但此链接仅接受 {symbol}。请勿再次发送。请联系商家。交易 {hash}",
    pay: "支付 {amount} {symbol}",
    paidTo: "已向 {owner} 支付 {amount} {symbol}",
    returnToShop: "返回商店",
    sentDirectly: "款项直接转入商家钱包",
    options: {
      title: "付款方式",
      wallet: "钱包",
      qr: "二维码",
      exchange: "交易所",
    },
    progress: {
      title: "付款进度",
      confirm: "在钱包中确认",
      sent: "已发送",
      confirming: "确认中",
      paid: "已付款",
    },
    title: "向 {owner} 支付 {amount} {symbol}",
    labels: {
      token: "代币",
      network: "网络",
      tokenContract: "代币合约",
      received: "已收到",
      usage: "（{count}/{most} 笔付款）",
      expires: "有效期至",
      description: "说明",
      advanced: "高级信息",
      settlesTo: "商家钱包",
      amount: "金额",
      address: "地址",
      link: "付款链接",
      paymentContract: "付款合约",
      paymentReference: "付款参考号",
      on: "网络",
      chain: "{name}（链 ID {id}）",
      to: "收款地址",
      value: "数值（最小单位）",
      data: "数据",
    },
    copy: {
      copy: "复制",
      copied: "已复制",
      amount: "复制金额",
      network: "复制网络",
      link: "复制链接",
      paymentContract: "复制付款合约",
      paymentReference: "复制付款参考号",
      to: "复制地址",
      value: "复制数值",
      data: "复制数据",
    },
    stepsTitle: "请按顺序发送以下交易",
    steps: {
      reset_allowance: "重置之前的授权。如果没有授权过，请跳过此步骤。",
      approve: "授权付款合约使用恰好此金额。",
      pay: "付款。合约会将款项直接转给商家。",
    },
    explorer: "在 {host} 上查看交易",
    expiresIn: "剩余时间 {left}",
    lastReceipt: "查看收据",
    receipt: {
      title: "收据：向 {owner} 支付 {amount} {symbol}",
      state: "付款已到账",
      amount: "付款金额",
      asked: "应付金额",
      received: "累计收到",
      paidTo: "收款方",
      sourceTransaction: "交易 ID",
      paid: "付款日期",
      id: "付款 ID",
      link: "查看付款链接",
      print: "打印收据",
    },
    noScript: "如需手动付款，请发送“高级信息”中的交易。",
    qr: {
      alternative: "此页面的二维码",
      caption: "扫码即可在手机上打开此页面并付款。",
    },
    apps: {
      open: "在 {name} 中打开",
      more: "其他钱包应用",
    },
    plainTransfer: "直接向商家地址转账不会计入此链接的付款。请通过下方的合约付款。",
    script: {
      noWallet: "未在此浏览器中找到钱包。请用手机扫描二维码，或安装钱包后重新加载此页面。",
      choose: "选择钱包",
      browserWallet: "浏览器钱包",
      connecting: "请在钱包中批准连接。",
      account: "{account} 余额为 {balance} {symbol}",
      checking: "正在查询余额…",
      allow: "第 {step} 步，共 {steps} 步：授权付款合约使用恰好此金额。",
      allowing: "授权已发送，您尚未付款。正在等待网络…",
      payStep: "第 {step} 步，共 {steps} 步：请在钱包中确认付款。",
      confirm: "请在钱包中确认付款。",
      asked: "您的钱包未返回结果。如果您已在钱包中确认付款，请在此等待，请勿重复付款。",
      confirmBoth: "请在钱包中确认：授权付款合约使用恰好此金额，并一步完成付款。",
      taken: "您的钱包已接受付款。正在等待网络。请勿重复付款。",
      sent: "已发送。正在等待网络。请勿重复付款。交易 {hash}",
      mined: "已打包进区块。正在等待确认。请勿重复付款。交易 {hash}",
      seen: "已检测到 {amount} {symbol} 的付款。请勿重复付款。",
      confirming: "确认中（{seen}/{needed}）",
      changedByWallet:
        "您的钱包更改了付款，因此款项到账时没有此链接的参考号。请勿重复付款。请让商家匹配这笔付款。交易 {hash}",
      uncounted: "已收到付款，但未计入此链接。请勿重复付款。请联系商家。交易 {hash}",
      failed: "付款失败，未支付任何款项。您可以重新付款。",
      refused: "网络拒绝了您的交易，未支付任何款项。您可以重新付款。",
      replaced: "您钱包中的另一笔交易替换了这笔付款，付款未完成。您可以重新付款。",
      rejected: "您拒绝了请求，未支付任何款项。您可以重试。",
      busyWallet: "您的钱包有待处理的请求。请在钱包中处理后重试。",
      wrongNetwork: "您的钱包处于其他网络。请切换到 {chain} 后重试。",
      unknownNetwork: "您的钱包没有 {chain} 网络。请添加后重试。",
      notAllowed: "您的钱包未连接到此页面。请解锁钱包、允许连接后重试。未支付任何款项。",
      cannotPay:
        "此钱包无法完成这笔付款，未支付任何款项。请使用其他钱包，或通过“高级信息”手动付款。",
      lacksToken:
        "{account} 的余额为 {balance} {symbol}，但需要 {amount}。未发送任何款项。请充值或切换账户后重试。",
      lacksGas: "{account} 需要更多 {coin} 支付网络费用。请充值后重试。未发送任何款项。",
      blocked:
        "代币合约会拒绝这笔付款，可能屏蔽了您或商家的地址。未支付任何款项。请切换账户，或向商家咨询付款方式。",
      chainDown: "您的钱包无法连接到 {chain}。未支付任何款项。请稍后重试。",
      stopped:
        "您的钱包通过此页面不允许的服务器连接 {chain}。未支付任何款项。请使用其他钱包，或通过“高级信息”手动付款。",
      walletFailed: "您的钱包报告了错误。未支付任何款项。请重试或使用其他钱包。",
      allowanceRefused: "网络拒绝了授权，未支付任何款项。您可以重试。",
      allowanceWaits: "授权仍在处理中，未支付任何款项。您可以重试。",
      changed: "此链接已更改。请在付款前核对。",
      otherTab: "此链接正在另一个标签页中付款。请在该标签页继续。",
      offline: "无法更新。正在重新连接…",
      gone: "我的付款未成功",
      otherMethod: "更改付款方式",
    },
    confirmGone: {
      title: "付款确实失败了吗？",
      text: "请仅在钱包显示付款已取消、失败或从未发送时继续。如果付款随后仍然到账，您将支付两次，而此页面无法撤销。",
      wait: "继续等待",
      gone: "允许重新付款",
    },
  },
  manualPayment: {
    payInWallet: "在钱包中支付 {amount} {symbol}",
    qr: {
      alternative: "付款请求的二维码",
      caption: "请使用您的钱包应用扫描。",
    },
    solana: "支持 Solana Pay 的钱包会自动填写所有信息。直接向商家转账不会计入此链接的付款。",
    solanaTransferRequest: {
      title: "钱包没有打开？",
      text: "这笔付款由您的钱包按当前金额创建。如需稍后使用，请先重新加载此页面。",
      payWithRequest: "打开转账请求",
      alternative: "转账请求的二维码",
    },
    exchange: {
      withdraw:
        "请在 Coinbase、Kraken 或其他交易所选择 {chain} 网络，将 {symbol} 提现到此地址，无需填写备注。到账金额必须恰好为 {amount} {symbol}。",
      addressNamesLink: "网络确认付款后，此链接即完成付款。",
      assignedManually: "请将您的交易 ID 发给商家，以便商家匹配您的付款。请勿在此重复付款。",
      notTracked: "来自交易所的付款无法与此链接匹配。请先提现到您自己的钱包，再从钱包付款。",
    },
    bitcoin:
      "此地址仅用于此链接。请一次性发送准确金额。钱包会另收手续费。确认后，此链接即完成付款。",
  },
  tron: {
    manual:
      "如需手动付款，请用 Tron 钱包按顺序发送下方的两笔交易。最多需要 {energy} 能量。如果您的账户没有能量，最多会消耗 {fee} TRX，但通常远低于此数。",
    noWallet: "未在此浏览器中找到 Tron 钱包。请用手机扫描二维码，或安装钱包后重新加载此页面。",
    account: "{account} 余额为 {balance} {symbol}、{coins} {coin} 和 {energy} 能量",
    fee: "此操作需要 {needed} 能量。缺少的能量约需 {cost} {coin}，最多 {limit}。",
    asked:
      "您的钱包未返回结果。如果您已在钱包中确认付款，请在此等待，请勿重复付款。如果未确认，付款约 2 分钟后失效，届时您可以重新付款。",
    wrongNetwork: "您的钱包处于其他网络。请在钱包中选择 {chain} 后重试。未支付任何款项。",
    notAllowed: "您的钱包已锁定或没有账户。请解锁后重试。未支付任何款项。",
    lacksGas:
      "{account} 有 {coins} {coin}，但此步骤缺少能量，约需 {cost}。请充值 {coin} 后重试。未支付任何款项。",
    lacksBandwidth: "您的账户需要更多 {coin} 支付带宽费用。请充值后重试。未支付任何款项。",
    tooDear:
      "此步骤需要 {needed} 能量，超出了 {limit} {coin} 的费用上限。未支付任何款项。请向商家咨询付款方式。",
    different:
      "您的钱包创建的交易与请求不符。未支付任何款项。请使用其他钱包，或通过“高级信息”手动付款。",
    nodeRefused: "您钱包的节点拒绝了交易。未支付任何款项。请重试，或在钱包中选择其他节点。",
    late: "您的确认超时。未支付任何款项。请重试，并在一分钟内确认。",
    unanswered: "钱包中的请求已过期。未支付任何款项。您可以重试。",
    expired: "您的付款在打包进区块之前已过期。未支付任何款项。您可以重新付款。",
    outOfEnergy: "您的交易能量不足。手续费已扣除，但未支付任何款项。您可以重新付款。",
    stopped:
      "您的钱包使用了此页面不允许的节点。未支付任何款项。请选择钱包的默认节点、使用其他钱包，或通过“高级信息”手动付款。",
  },
  wallet: {
    unknown: "此付款链接不存在。未支付任何款项。",
    elsewhere: "此链接无法通过 Solana 付款。未支付任何款项。",
    completed: "此链接已完成付款。请勿重复付款。",
    expired: "此链接已过期。未支付任何款项。",
    inactive: "商家已关闭此链接。未支付任何款项。",
    held: "此链接已暂停。未支付任何款项。",
    own_account: "此账户是收款账户。请使用其他账户付款。",
    payment_seen: "已检测到一笔付款，正在确认。请勿重复付款。",
    balance_too_low: "{symbol} 余额不足：需要 {amount}，现有 {balance}。",
    noAccount: "您的钱包未提供有效账户。未支付任何款项。",
    lost: "此链接的地址不是钱包。未支付任何款项。请联系商家。",
    away: "目前无法连接 Solana。未支付任何款项。请稍后重试。",
    tooMany: "请求过多。未支付任何款项。请稍后重试。",
    failed: "出现错误。未支付任何款项。请稍后重试。",
  },
  site: {
    home: {
      introduction: "通过链接收取稳定币付款。款项直接转入您自己的钱包。",
      console: "打开控制台",
      payerHint: "收到了付款链接？请按原样打开。页面会显示收款方和金额。",
      apiDocument: "API 参考（OpenAPI）",
    },
    console: {
      needsScript: "控制台需要 JavaScript。如果无法使用，您可以使用登录链接：",
      link: "登录链接",
      submit: "继续",
    },
    errorPages: {
      404: {
        title: "未找到页面",
        text: "链接可能不完整。请按收到的原样打开，或向发送者索取新链接。",
      },
      429: {
        title: "请求过多",
        text: "请稍候片刻，然后重新加载页面。",
      },
      failed: {
        title: "出现错误",
        text: "请稍后重试。",
      },
    },
  },
};
