"""A typed client of Payment Links, and what a receiver of its webhooks needs."""

from ._amounts import compare_amounts
from ._async_client import AsyncPaymentLinks
from ._changes import AsyncPaymentLinkChanges, PaymentLinkChanges
from ._client import PaymentLinks
from ._errors import NoAnswerError, PaymentLinksError, Problem, WaitTimeoutError
from ._webhooks import WebhookRefusal, WebhookRefusedError, is_webhook, read_webhook

__all__ = [
    "AsyncPaymentLinkChanges",
    "AsyncPaymentLinks",
    "NoAnswerError",
    "PaymentLinkChanges",
    "PaymentLinks",
    "PaymentLinksError",
    "Problem",
    "WaitTimeoutError",
    "WebhookRefusal",
    "WebhookRefusedError",
    "compare_amounts",
    "is_webhook",
    "read_webhook",
]
