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

// Webhook is what the service sends. The same one may come again. Recognize it by its ID: the body is
// signed, headers are not.
type Webhook struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// ErrNotGenuine means that the request is not a webhook of the service: answer 401.
var ErrNotGenuine = errors.New("the request is not genuine")

var timestampForm = regexp.MustCompile(`^[0-9]{1,12}$`)

// ReadWebhook takes the body's bytes before anything has parsed them.
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
