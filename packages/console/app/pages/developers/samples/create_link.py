import json, os, urllib.request

# A repeated call with the same Idempotency-Key within 24 hours returns the same link.
request = urllib.request.Request(
    "https://pay.example.com/v1/payment-link",
    method="POST",
    headers={
        "X-API-Key": os.environ["API_KEY"],
        "Content-Type": "application/json",
        "Idempotency-Key": "order-1001",
    },
    data=json.dumps({"toAmount": "25", "description": "Order 1001"}).encode(),
)
with urllib.request.urlopen(request) as response:
    link = json.load(response)
print("Send the payer to", link["url"])
