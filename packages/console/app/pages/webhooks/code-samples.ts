/** How a receiver checks a signature, in the languages of most shops. */
export const codeSamples = (prefix: string): Readonly<Record<string, string>> => ({
  "Node.js": `import { createHmac, timingSafeEqual } from "node:crypto";

// raw: the body's bytes, before anything has parsed them.
export const isGenuine = (raw, headers, secret) => {
  const timestamp = headers["${prefix.toLowerCase()}-timestamp"] ?? "";
  const given = Buffer.from((headers["${prefix.toLowerCase()}-signature"] ?? "").replace("v1=", ""), "hex");
  const expected = createHmac("sha256", secret).update(timestamp + ".").update(raw).digest();
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
};`,
  Python: `import hashlib, hmac, time

# raw: the body's bytes, before anything has parsed them.
def is_genuine(raw, headers, secret):
    timestamp = headers.get("${prefix}-Timestamp", "")
    given = headers.get("${prefix}-Signature", "").removeprefix("v1=")
    signed = timestamp.encode() + b"." + raw
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    is_fresh = timestamp.isdigit() and abs(time.time() - int(timestamp)) <= 300
    return is_fresh and hmac.compare_digest(given, expected)`,
  PHP: `<?php
// $raw: file_get_contents('php://input'), before anything has parsed it.
function is_genuine(string $raw, array $headers, string $secret): bool {
    $timestamp = $headers['${prefix}-Timestamp'] ?? '';
    $given = preg_replace('/^v1=/', '', $headers['${prefix}-Signature'] ?? '');
    $expected = hash_hmac('sha256', $timestamp . '.' . $raw, $secret);
    return abs(time() - (int) $timestamp) <= 300 && hash_equals($expected, $given);
}`,
  Go: `package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// IsGenuine takes the body's bytes before anything has parsed them.
func IsGenuine(raw []byte, header http.Header, secret string) bool {
	timestamp := header.Get("${prefix}-Timestamp")
	given, err := hex.DecodeString(strings.TrimPrefix(header.Get("${prefix}-Signature"), "v1="))
	seconds, err2 := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || err2 != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(raw)
	return hmac.Equal(given, mac.Sum(nil))
}`,
});
