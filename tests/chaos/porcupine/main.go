// Checks histories of locks with Porcupine: is there an order of the operations, each between its
// call and its return, in which a correct lock does the same?
// SPDX-License-Identifier: BSL-1.0
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// longest is for one key. A history without an answer by then counts as one that violates.
const longest = 30 * time.Second

var errViolation = errors.New("a history is not linearizable")

// check writes a sentence for each key whose history is not linearizable, and a page that shows it.
// It checks all keys at the same time.
func check(from io.Reader, to io.Writer, folder string) error {
	histories, err := readHistory(from)
	if err != nil {
		return err
	}
	sentences := make([]string, len(histories))
	failures := make([]error, len(histories))
	var all sync.WaitGroup
	for index := range histories {
		all.Add(1)
		go func() {
			defer all.Done()
			sentences[index], failures[index] = checkKey(histories[index], folder)
		}()
	}
	all.Wait()
	for _, sentence := range sentences {
		fmt.Fprint(to, sentence)
	}
	return errors.Join(failures...)
}

// checkKey returns errViolation and a sentence if the history of the key is not linearizable.
func checkKey(its *keyHistory, folder string) (string, error) {
	rules, err := rulesOf(its.model)
	if err != nil {
		return "", err
	}
	model := rules.model()
	if porcupine.CheckOperationsTimeout(model, its.operations, longest) == porcupine.Ok {
		return "", nil
	}
	// What the page shows takes many times as long to find.
	answer, info := porcupine.CheckOperationsVerbose(model, its.operations, longest)
	if answer == porcupine.Ok {
		return "", nil
	}
	word := "not linearizable"
	if answer == porcupine.Unknown {
		word = fmt.Sprintf("not judged within %v", longest)
	}
	page := filepath.Join(folder, "porcupine-"+its.key+".html")
	if err := porcupine.VisualizePath(model, info, page); err != nil {
		page = err.Error()
	}
	return fmt.Sprintf("key %s as a %s: the history of %d operations is %s; shown by %s\n",
		its.key, its.model, len(its.operations), word, page), errViolation
}

func run(words []string) error {
	if len(words) != 1 {
		return errors.New("expected the file of a history")
	}
	file, err := os.Open(words[0])
	if err != nil {
		return err
	}
	defer file.Close()
	return check(file, os.Stdout, filepath.Dir(words[0]))
}

// The exit status is 1 for a violation, and 2 for anything else that went wrong.
func main() {
	err := run(os.Args[1:])
	if errors.Is(err, errViolation) {
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "porcupine:", err)
		os.Exit(2)
	}
}
