<?php
// Returns the webhook, or null if the request is not genuine. In that case, respond with 401.
// The same webhook can arrive twice. Deduplicate by its 'id' in the body: headers are not signed.
// $raw: file_get_contents('php://input'), before any parsing.
// $headers: getallheaders(), or a framework's array of values by name. Names can be in any case.
function read_webhook(string $raw, array $headers, string $secret): ?array {
    if (!str_starts_with($secret, 'whsec_')) {
        throw new RuntimeException("the endpoint's signing secret is missing");
    }
    $headers = array_change_key_case($headers);
    $timestamp = implode(',', (array) ($headers['service-timestamp'] ?? ''));
    $signature = implode(',', (array) ($headers['service-signature'] ?? ''));
    if (!preg_match('/^[0-9]{1,12}\z/', $timestamp) || !preg_match('/^v1=[0-9a-f]{64}\z/', $signature)) {
        return null;
    }
    $mac = hash_hmac('sha256', $timestamp . '.' . $raw, $secret);
    $isGenuine = hash_equals('v1=' . $mac, $signature);
    $isFresh = abs(time() - (int) $timestamp) <= 300;
    return $isGenuine && $isFresh ? json_decode($raw, true, flags: JSON_THROW_ON_ERROR) : null;
}

// Start: SECRET=whsec_… php -S 127.0.0.1:9000 receiver.php
$webhook = read_webhook(file_get_contents('php://input'), getallheaders(), getenv('SECRET'));
http_response_code($webhook === null ? 401 : 204);
if ($webhook !== null) {
    // In production: a table with a unique key, written in one transaction with your work.
    $file = fopen(__DIR__ . '/seen-ids.txt', 'c+');
    flock($file, LOCK_EX);
    if (!in_array($webhook['id'], explode("\n", stream_get_contents($file)), true)) {
        fwrite($file, $webhook['id'] . "\n");
        file_put_contents('php://stdout', $webhook['type'] . "\n");
    }
    fclose($file);
}
