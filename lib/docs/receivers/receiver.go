// A receiver of Bridge's webhooks: go run receiver.go (Go 1.19). Settings: WEBHOOK_SECRETS, PORT, INBOX.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

var (
	// One secret, or several with spaces between them while it is rotated; each as it was shown, whsec_ included.
	secrets = strings.Fields(os.Getenv("WEBHOOK_SECRETS"))
	inbox   = setting("INBOX", "inbox")
	idShape = regexp.MustCompile(`^[\w-]+$`)
)

func setting(name, usual string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return usual
}

func isSigned(headers http.Header, body []byte) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	age := math.Abs(float64(time.Now().Unix() - seconds))
	if err != nil || !idShape.MatchString(id) || age > toleranceSeconds {
		return false
	}
	given := strings.Split(headers.Get("webhook-signature"), " ")
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		wanted := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, signature := range given {
			if hmac.Equal([]byte(signature), wanted) {
				return true
			}
		}
	}
	return false
}

// keep keeps the event under its id; false when it is there already, whole: a link is made at once or not at all.
func keep(id string, body []byte) (bool, error) {
	draft, err := os.CreateTemp(inbox, ".draft-")
	if err != nil {
		return false, err
	}
	defer os.Remove(draft.Name())
	defer draft.Close()
	if _, err := draft.Write(body); err != nil {
		return false, err
	}
	if err := draft.Sync(); err != nil {
		return false, err
	}
	err = os.Link(draft.Name(), filepath.Join(inbox, id+".json"))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	if !isSigned(request.Header, body) {
		http.Error(response, "bad signature", http.StatusUnauthorized)
		return
	}
	// What has to be done for the event is done afterwards, from the inbox: the answer is due within 5 seconds.
	isNew, err := keep(request.Header.Get("webhook-id"), body)
	if err != nil {
		log.Print(err) // a 5xx makes Bridge try again
		http.Error(response, "not kept", http.StatusInternalServerError)
		return
	}
	if isNew {
		fmt.Fprintln(response, "kept")
	} else {
		fmt.Fprintln(response, "known")
	}
}

func main() {
	if len(secrets) == 0 {
		log.Fatal("WEBHOOK_SECRETS is not set")
	}
	if err := os.MkdirAll(inbox, 0o700); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+setting("PORT", "3000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}
