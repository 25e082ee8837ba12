// Serves the Go sample as a shop would: prints one line for each processed webhook.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"example.com/receiver/webhooks"
)

func main() {
	var seen sync.Map
	receive := func(res http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		webhook, err := webhooks.ReadWebhook(raw, req.Header, os.Getenv("SECRET"))
		if errors.Is(err, webhooks.ErrNotGenuine) {
			res.WriteHeader(http.StatusUnauthorized)
			return
		}
		if err != nil {
			res.WriteHeader(http.StatusInternalServerError)
			return
		}
		if _, isSeen := seen.LoadOrStore(webhook.ID, true); !isSeen {
			fmt.Println(webhook.Type)
		}
		res.WriteHeader(http.StatusNoContent)
	}
	err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
