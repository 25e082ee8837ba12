// Start: SECRET=whsec_… go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
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

func main() {
	secret, port := os.Getenv("SECRET"), os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	// In production: a table with a unique key, written in one transaction with your work.
	var seenIDs sync.Map
	receive := func(res http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		webhook, err := ReadWebhook(raw, req.Header, secret)
		if errors.Is(err, ErrNotGenuine) {
			res.WriteHeader(http.StatusUnauthorized)
			return
		}
		if err != nil {
			res.WriteHeader(http.StatusInternalServerError)
			return
		}
		if _, isSeen := seenIDs.LoadOrStore(webhook.ID, true); !isSeen {
			fmt.Println(webhook.Type)
		}
		res.WriteHeader(http.StatusNoContent)
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(receive)))
	os.Exit(1)
}
