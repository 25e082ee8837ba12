<?php
// Serves the PHP sample as a shop would: prints one line for each processed webhook.
require __DIR__ . '/read_webhook.php';

$raw = file_get_contents('php://input');
$webhook = read_webhook($raw, getallheaders(), getenv('SECRET'));
// The same request with the header format of a framework.
$lists = array_map(fn ($value) => [$value], array_change_key_case(getallheaders()));
if ($webhook !== read_webhook($raw, $lists, getenv('SECRET'))) {
    throw new RuntimeException('lists in headers change the result');
}
http_response_code($webhook === null ? 401 : 204);
if ($webhook !== null) {
    $file = fopen(__DIR__ . '/seen.txt', 'c+');
    flock($file, LOCK_EX);
    if (!in_array($webhook['id'], explode("\n", stream_get_contents($file)), true)) {
        fwrite($file, $webhook['id'] . "\n");
        file_put_contents('php://stdout', $webhook['type'] . "\n");
    }
    fclose($file);
}
