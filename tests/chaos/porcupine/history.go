// Histories as text: one operation in each line.
// SPDX-License-Identifier: BSL-1.0
package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// keyHistory is what was done with one key.
type keyHistory struct {
	key, model string
	operations []porcupine.Operation
}

// readHistory reads lines of
//
//	key model verb client hold called returned token
//
// with times in nanoseconds. A return of 0 means that the operation may take effect at any time
// after the call. Keys are returned in the order in which they first appear.
func readHistory(from io.Reader) ([]*keyHistory, error) {
	var all []*keyHistory
	byKey := map[string]*keyHistory{}
	lines := bufio.NewScanner(from)
	for number := 1; lines.Scan(); number++ {
		words := strings.Fields(lines.Text())
		done, err := readOperation(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		history := byKey[words[0]]
		if history == nil {
			history = &keyHistory{key: words[0], model: words[1]}
			byKey[words[0]] = history
			all = append(all, history)
		}
		if history.model != words[1] {
			return nil, fmt.Errorf("line %d: key %s is a %s and a %s", number, words[0], history.model, words[1])
		}
		history.operations = append(history.operations, done)
	}
	return all, lines.Err()
}

func readOperation(words []string) (porcupine.Operation, error) {
	var done porcupine.Operation
	if len(words) != 8 {
		return done, fmt.Errorf("expected 8 words, not %d", len(words))
	}
	does := operation{verb: verb(words[2])}
	if does.verb != acquire && does.verb != acquireShared && does.verb != release {
		return done, fmt.Errorf("unknown verb %q", words[2])
	}
	var numbers [5]int64
	for index := range numbers {
		number, err := strconv.ParseInt(words[3+index], 10, 64)
		if err != nil {
			return done, err
		}
		numbers[index] = number
	}
	does.hold, does.token = int(numbers[1]), uint64(numbers[4])
	done = porcupine.Operation{ClientId: int(numbers[0]), Input: does, Call: numbers[2], Return: numbers[3]}
	if done.Return == 0 {
		done.Return = math.MaxInt64
	}
	if done.Return < done.Call {
		return done, fmt.Errorf("returned at %d, before the call at %d", done.Return, done.Call)
	}
	return done, nil
}
