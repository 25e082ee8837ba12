package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Webhook is an event from the service. The same webhook can arrive twice. Deduplicate by its ID in the
// body, because headers are not signed.
type Webhook struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// ErrNotGenuine means that the request is not a webhook of the service. Respond with 401.
var ErrNotGenuine = errors.New("the request is not genuine")

var timestampForm = regexp.MustCompile(`^[0-9]{1,12}$`)

// ReadWebhook verifies and parses a webhook. It needs the bytes of the body before any parsing.
func ReadWebhook(raw []byte, header http.Header, secret string) (*Webhook, error) {
	if !strings.HasPrefix(secret, "whsec_") {
		return nil, errors.New("the endpoint's signing secret is missing")
	}
	timestamps, signatures := header.Values("Service-Timestamp"), header.Values("Service-Signature")
	if len(timestamps) != 1 || len(signatures) != 1 || !timestampForm.MatchString(timestamps[0]) {
		return nil, ErrNotGenuine
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamps[0] + "."))
	mac.Write(raw)
	expected := "v1=" + hex.EncodeToString(mac.Sum(nil))
	seconds, err := strconv.ParseInt(timestamps[0], 10, 64)
	age := time.Since(time.Unix(seconds, 0)).Abs()
	if err != nil || age > 300*time.Second || !hmac.Equal([]byte(signatures[0]), []byte(expected)) {
		return nil, ErrNotGenuine
	}
	webhook := &Webhook{}
	return webhook, json.Unmarshal(raw, webhook)
}
