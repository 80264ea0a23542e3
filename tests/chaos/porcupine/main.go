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
	"time"

	"github.com/anishathalye/porcupine"
)

// longest is for one key. A history without an answer by then counts as one that violates.
const longest = 30 * time.Second

var errViolation = errors.New("a history is not linearizable")

// check writes a sentence for each key whose history is not linearizable, and a page that shows it.
func check(from io.Reader, to io.Writer, folder string) error {
	histories, err := readHistory(from)
	if err != nil {
		return err
	}
	var result error
	for _, each := range histories {
		its, err := rulesOf(each.model)
		if err != nil {
			return err
		}
		model := its.model()
		if porcupine.CheckOperationsTimeout(model, each.operations, longest) == porcupine.Ok {
			continue
		}
		// What the page shows takes many times as long to find.
		answer, info := porcupine.CheckOperationsVerbose(model, each.operations, longest)
		if answer == porcupine.Ok {
			continue
		}
		result = errViolation
		word := "not linearizable"
		if answer == porcupine.Unknown {
			word = fmt.Sprintf("not judged within %v", longest)
		}
		page := filepath.Join(folder, "porcupine-"+each.key+".html")
		if err := porcupine.VisualizePath(model, info, page); err != nil {
			page = err.Error()
		}
		fmt.Fprintf(to, "key %s as a %s: the history of %d operations is %s; shown by %s\n",
			each.key, each.model, len(each.operations), word, page)
	}
	return result
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
