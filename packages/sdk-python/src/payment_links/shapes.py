# Made by `npm run generate` from the public OpenAPI document. Change nothing here.
"""The data that the service sends and receives, with the names of its fields."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal, TypedDict

class _RequiredNewPaymentLink(TypedDict):
    toAmount: str | Decimal
    """The amount in the token of the owner's default wallet. Greater than 0, with at most 78 digits and no more decimal places than the token has. A string is recommended."""

class NewPaymentLink(_RequiredNewPaymentLink, total=False):
    description: str | None
    """Shown to the payer."""
    maxUsage: int | None
    """The number of payments that complete the link, whatever their amount. Null means that only the amount completes it."""
    expirationDate: str | datetime | None
    """Must be in the future. UTC if it has no offset. Null means that the link never expires."""

class TransactionSucceededWebhookData(TypedDict):
    """The state of the link when this attempt is sent."""
    paymentLinkId: str
    """The id of the link, `plink_…`."""
    status: Literal["active", "completed", "inactive"]
    """The current status; `completed` if this payment completed the link."""
    amount: str
    """The link's `toAmount`, a plain decimal in whole tokens."""
    receivedAmount: str
    """The total settled so far. A link completed by `maxUsage` can be underpaid: compare this with `amount`."""
    currentUsage: int
    """The number of payments settled so far."""
    maxUsage: int | None
    """The number of payments that complete the link. Null means that only the amount completes it."""
    chainId: str
    """The id of the chain on which the link is paid."""
    tokenAddress: str
    """The address of the token in which the link is paid."""
    description: str | None
    """Shown to the payer."""
    transaction: WebhookTransaction

class TransactionSucceededWebhook(TypedDict):
    id: str
    """The id of the event, as in the header. Use it to detect repeated webhooks."""
    createdAt: str
    """When the payment was applied, not when the webhook was sent."""
    type: Literal["payment_link.transaction.succeeded"]
    data: TransactionSucceededWebhookData
    """The state of the link when this attempt is sent."""

class WebhookTransaction(TypedDict):
    id: str
    """The id of the payment, `tx_…`."""
    status: Literal["processing", "settled", "failed"]
    """`settled`: the payment is final and applied to the link."""
    amount: str
    """The amount paid, a plain decimal in whole tokens."""
    tokenAddress: str
    """The address of the received token."""
    chainId: str
    """The id of the chain on which the payment was received."""
    sourceTransaction: str | None
    """The hash of the payer's transaction, which may be on another chain."""
    dateCreated: str
    """When the payment was first seen."""

class CompletedWebhookData(TypedDict):
    """The state of the link when this attempt is sent."""
    paymentLinkId: str
    """The id of the link, `plink_…`."""
    status: Literal["active", "completed", "inactive"]
    """The current status; `completed` if this payment completed the link."""
    amount: str
    """The link's `toAmount`, a plain decimal in whole tokens."""
    receivedAmount: str
    """The total settled so far. A link completed by `maxUsage` can be underpaid: compare this with `amount`."""
    currentUsage: int
    """The number of payments settled so far."""
    maxUsage: int | None
    """The number of payments that complete the link. Null means that only the amount completes it."""
    chainId: str
    """The id of the chain on which the link is paid."""
    tokenAddress: str
    """The address of the token in which the link is paid."""
    description: str | None
    """Shown to the payer."""

class CompletedWebhook(TypedDict):
    id: str
    """The id of the event, as in the header. Use it to detect repeated webhooks."""
    createdAt: str
    """When the payment was applied, not when the webhook was sent."""
    type: Literal["payment_link.completed"]
    data: CompletedWebhookData
    """The state of the link when this attempt is sent."""

class TransactionUnappliedWebhookData(TypedDict):
    """The state of the link when this attempt is sent."""
    paymentLinkId: str
    """The id of the link, `plink_…`."""
    status: Literal["active", "completed", "inactive"]
    """The current status. The payment did not change it."""
    amount: str
    """The link's `toAmount`, a plain decimal in whole tokens."""
    receivedAmount: str
    """The total settled so far. A link completed by `maxUsage` can be underpaid: compare this with `amount`."""
    currentUsage: int
    """The number of payments settled so far."""
    maxUsage: int | None
    """The number of payments that complete the link. Null means that only the amount completes it."""
    chainId: str
    """The id of the chain on which the link is paid."""
    tokenAddress: str
    """The address of the token in which the link is paid."""
    description: str | None
    """Shown to the payer."""
    transaction: UnappliedWebhookTransaction

class TransactionUnappliedWebhook(TypedDict):
    id: str
    """The id of the event, as in the header. Use it to detect repeated webhooks."""
    createdAt: str
    """When it was decided that the payment does not count."""
    type: Literal["payment_link.transaction.unapplied"]
    data: TransactionUnappliedWebhookData
    """The state of the link when this attempt is sent."""

class UnappliedWebhookTransaction(TypedDict):
    id: str
    """The id of the payment, `tx_…`."""
    status: Literal["processing", "settled", "failed"]
    """`settled`: the payment is final, although it does not count."""
    amount: str
    """The amount paid, a plain decimal in whole tokens."""
    tokenAddress: str
    """The address of the received token."""
    chainId: str
    """The id of the chain on which the payment was received."""
    sourceTransaction: str | None
    """The hash of the payer's transaction, which may be on another chain."""
    dateCreated: str
    """When the payment was first seen."""
    reason: Literal["wrong_token", "wrong_destination", "wrong_amount", "completed", "expired", "inactive"]
    """Why the payment does not count. `wrong_token`: another token or chain. `wrong_destination`: another address. `wrong_amount`: finer than the token. `completed`, `expired`, `inactive`: the link no longer accepted payments."""

class Webhook(TypedDict):
    id: str
    """The id of the event, as in the header. Use it to detect repeated webhooks."""
    createdAt: str
    """When the payment was applied, not when the webhook was sent."""
    type: str
    """New types may be added. Ignore a type that you do not know."""
    data: dict[str, object]
    """Depends on `type`."""

class PaymentLinkCreationData(TypedDict):
    id: str
    """The id of the link, `plink_…`."""
    url: str
    """The checkout page. Send this URL to the payer."""

class _RequiredPaymentLinkPage(TypedDict):
    data: list[PaymentLinkData]
    """The entries of this page, in list order."""
    limit: int
    """The maximum number of entries per page."""
    offset: int
    """The number of filtered entries before this page."""
    nextOffset: int | None
    """The `offset` of the next page. Null on the last page."""

class PaymentLinkPage(_RequiredPaymentLinkPage, total=False):
    nextUpdatedAfter: str
    """The `updatedAfter` of your next run. Store it after you have handled the last page of this run. It is five minutes before this response, because a change can become visible later than its time. Present only on the first page of a list with `updatedAfter`."""

class PaymentLinkData(TypedDict):
    id: str
    """The id of the link, `plink_…`."""
    userId: str
    """The id of the owner, `user_…`."""
    toAmount: str
    """The requested amount, a plain decimal in whole tokens of `token`."""
    destinationAddress: str
    """The owner's address that receives the payments. It never changes."""
    url: str
    """The checkout page for the payer."""
    dateCreated: str
    """When the link was created."""
    token: TokenData
    status: Literal["active", "completed", "inactive"]
    """`inactive` means expired or deactivated. Only an `active` link accepts payments, but a payment that was sent before the link expired is still applied."""
    description: str | None
    """Shown to the payer."""
    maxUsage: int | None
    """The number of payments that complete the link. Null means that only the amount completes it."""
    receivedAmount: str
    """The total of applied payments so far, in the same form as `toAmount`. A link completed by `maxUsage` can be underpaid: compare this with `toAmount`."""
    expirationDate: str | None
    """When the link expires. Null means never."""
    transactionUrl: str | None
    """The receipt page of the last applied payment. Null in lists, and until the link is completed."""

class TokenData(TypedDict):
    address: str
    """The address of the contract or mint on `chain`."""
    decimals: int
    """The maximum number of decimal places of an amount. 1 token is 10^decimals base units."""
    symbol: str
    """Such as `USDC`. Several tokens can share a symbol."""
    name: str
    """The display name."""
    logo: str | None
    """Always null for now."""
    isNative: bool | None
    """Whether the token is the chain's native coin."""
    isStablecoin: bool | None
    """Whether the token tracks a currency."""
    currencyCode: str | None
    """The ISO 4217 code of the currency that a stablecoin tracks."""
    commodityCode: str | None
    """The code of the commodity that the token tracks."""
    chain: ChainData
    priceUsd: str | None
    """Always null for now."""
    isVerified: bool | None
    """Whether the token is in the catalogue."""

class ChainData(TypedDict):
    id: str
    """The decimal chain id on EVM chains, otherwise a name such as `solana` or `bitcoin`."""
    name: str
    """The display name."""
    symbol: str
    """The symbol of the chain's native coin."""
    chainType: Literal["EVM", "SVM", "TVM", "BVM"]
    """The chain family: `EVM`, `SVM` (Solana), `TVM` (Tron) or `BVM` (Bitcoin)."""
    logo: str
    """The URL of an image."""

class RetrievedPaymentLink(TypedDict):
    id: str
    """The id of the link, `plink_…`."""
    userId: str
    """The id of the owner, `user_…`."""
    toAmount: str
    """The requested amount, a plain decimal in whole tokens of `token`."""
    destinationAddress: str
    """The owner's address that receives the payments. It never changes."""
    url: str
    """The checkout page for the payer."""
    dateCreated: str
    """When the link was created."""
    token: TokenData
    status: Literal["active", "completed", "inactive"]
    """`inactive` means expired or deactivated. Only an `active` link accepts payments, but a payment that was sent before the link expired is still applied."""
    description: str | None
    """Shown to the payer."""
    maxUsage: int | None
    """The number of payments that complete the link. Null means that only the amount completes it."""
    receivedAmount: str
    """The total of applied payments so far, in the same form as `toAmount`. A link completed by `maxUsage` can be underpaid: compare this with `toAmount`."""
    expirationDate: str | None
    """When the link expires. Null means never."""
    transactionUrl: str | None
    """The receipt page of the last applied payment. Null in lists, and until the link is completed."""
    user: UserData

class UserData(TypedDict):
    id: str
    """The id of the owner, `user_…`."""
    handle: str
    """Without the leading `@`. The handle can change."""
    username: str
    """The display name."""
    dateCreated: str
    """When the account was created."""
    wallet: UserWalletData
    profileImage: str | None
    """The URL of an image."""
    bio: str | None
    """A text by the owner about themselves."""
    backgroundImage: str | None
    """The URL of an image."""
    backgroundColour: str | None
    """`#` and six hex digits."""
    links: list[str] | None
    """URLs that the owner has chosen."""
    isMooveUser: bool | None
    """Whether the owner has an account."""
    contact: dict[str, object] | None
    """Always null, because it is not public."""
    badges: list[dict[str, object]] | None
    """Always null for now."""

class UserWalletDataToken(TypedDict):
    """The token that the wallet receives."""
    id: str
    """The id of the token in the catalogue."""
    token: TokenData

class UserWalletData(TypedDict):
    walletAddress: str
    """The address that receives payments."""
    token: UserWalletDataToken
    """The token that the wallet receives."""
    chainType: Literal["EVM", "SVM", "TVM", "BVM"]
    """The family of the token's chain."""
    isDefault: bool
    """Whether new links use this wallet."""
    isChainDefault: bool
    """Whether this is the default wallet of its chain."""
    provider: str | None
    """The provider of the wallet, if known."""

class PaymentLinksFilter(TypedDict, total=False):
    """Which links a list has."""
    status: Literal["active", "completed", "inactive"]
    """Only links with this status. Defaults to all links."""
    updatedAfter: str
    """Only links that changed at or after this instant: they were created, got a payment, changed their status or expired. The latest change comes first. A link that changes while you request pages can appear twice, or only in your next run. Links from before the update of this installation that added the parameter count as changed at that update."""
    offset: int
    """The number of entries to skip: `nextOffset` of the previous page. Defaults to 0. New entries shift the pages, so skip an `id` that you have already received."""

PaymentLinkStatus = Literal["active", "completed", "inactive"]
WebhookType = Literal["payment_link.transaction.succeeded", "payment_link.completed", "payment_link.transaction.unapplied"]
"""The types that this version knows. More may be added."""
