package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
)

// visit asks the person with the browser to go to a URL, and tells with which parameters the client was answered.
func visit(address string) (url.Values, error) {
	errand := url.Values{"person": {"go"}, "url": {address}}
	response, err := http.PostForm(os.Getenv("ERRANDS")+"/visit", errand)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the person could not go to %s", address)
	}
	var arrived struct{ URL string }
	if err := json.NewDecoder(response.Body).Decode(&arrived); err != nil {
		return nil, err
	}
	ended, err := url.Parse(arrived.URL)
	if err != nil {
		return nil, err
	}
	return ended.Query(), nil
}
