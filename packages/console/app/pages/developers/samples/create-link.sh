curl https://pay.example.com/v1/payment-link \
  -H "X-API-Key: $API_KEY" \
  -H "Content-Type: application/json" \
  -H "Idempotency-Key: order-1001" \
  -d '{"toAmount":"25","description":"Order 1001"}'
