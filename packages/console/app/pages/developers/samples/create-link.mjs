// A repeated call with the same Idempotency-Key within 24 hours returns the same link.
const response = await fetch("https://pay.example.com/v1/payment-link", {
  method: "POST",
  headers: {
    "X-API-Key": process.env.API_KEY,
    "Content-Type": "application/json",
    "Idempotency-Key": "order-1001",
  },
  body: JSON.stringify({ toAmount: "25", description: "Order 1001" }),
});
const link = await response.json();
if (!response.ok) throw new Error(JSON.stringify(link.errors));
console.log(`Send the payer to ${link.url}`);
