<?php
// A repeated call with the same Idempotency-Key within 24 hours returns the same link.
$context = stream_context_create(["http" => [
    "method" => "POST",
    "header" => [
        "X-API-Key: " . getenv("API_KEY"),
        "Content-Type: application/json",
        "Idempotency-Key: order-1001",
    ],
    "content" => json_encode(["toAmount" => "25", "description" => "Order 1001"]),
]]);
$response = file_get_contents("https://pay.example.com/v1/payment-link", false, $context);
echo "Send the payer to " . json_decode($response, true)["url"] . "\n";
