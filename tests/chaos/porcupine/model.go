// The locks that histories are checked against, as sequential objects.
// SPDX-License-Identifier: BSL-1.0
package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

type verb string

const (
	acquire       verb = "acquire"
	acquireShared verb = "acquire_shared"
	release       verb = "release"
)

// operation is what a client did with one hold. Releases name the hold that they end.
type operation struct {
	verb  verb
	hold  int
	token uint64 // of an acquire; 0: none
}

// rules tell the models apart.
type rules struct {
	permits int  // how many hold at once by acquire
	shared  bool // acquire_shared is allowed
	fenced  bool // each token is larger than those before
}

// lock is the state: who holds, and the last token.
type lock struct {
	holders string // the numbers of the holds in order, each followed by a comma
	shared  bool   // they hold by acquire_shared
	token   uint64
}

// rulesOf reads the name of a model: mutex, rwlock, fenced, fenced_rwlock or semaphore:<permits>.
func rulesOf(model string) (rules, error) {
	switch model {
	case "mutex":
		return rules{permits: 1}, nil
	case "rwlock":
		return rules{permits: 1, shared: true}, nil
	case "fenced":
		return rules{permits: 1, fenced: true}, nil
	case "fenced_rwlock":
		return rules{permits: 1, shared: true, fenced: true}, nil
	}
	if text, found := strings.CutPrefix(model, "semaphore:"); found {
		if permits, err := strconv.Atoi(text); err == nil && permits > 0 {
			return rules{permits: permits}, nil
		}
	}
	return rules{}, fmt.Errorf("unknown model %q", model)
}

func (before lock) holds() []string {
	return strings.FieldsFunc(before.holders, func(each rune) bool { return each == ',' })
}

func (before lock) with(hold int, shared bool, token uint64) lock {
	holds := append(before.holds(), strconv.Itoa(hold))
	slices.Sort(holds)
	return lock{strings.Join(holds, ",") + ",", shared, max(before.token, token)}
}

func (before lock) without(hold int) (lock, bool) {
	holds := before.holds()
	index := slices.Index(holds, strconv.Itoa(hold))
	if index < 0 {
		return before, false
	}
	after := lock{token: before.token, shared: before.shared && len(holds) > 1}
	if holds = slices.Delete(holds, index, index+1); len(holds) > 0 {
		after.holders = strings.Join(holds, ",") + ","
	}
	return after, true
}

// step says whether the lock allows the operation, and its next state.
func (its rules) step(before lock, does operation) (bool, lock) {
	switch does.verb {
	case acquireShared:
		allowed := its.shared && (before.shared || before.holders == "")
		return allowed, before.with(does.hold, true, 0)
	case acquire:
		allowed := !before.shared && len(before.holds()) < its.permits
		if its.fenced && does.token != 0 {
			allowed = allowed && does.token > before.token
		}
		return allowed, before.with(does.hold, false, does.token)
	case release:
		after, held := before.without(does.hold)
		return held, after
	}
	return false, before
}

func (its rules) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return lock{} },
		Step: func(state, input, _ any) (bool, any) {
			return its.step(state.(lock), input.(operation))
		},
		DescribeOperation: func(input, _ any) string {
			does := input.(operation)
			return fmt.Sprintf("%s %d token %d", does.verb, does.hold, does.token)
		},
		DescribeState: func(state any) string {
			its := state.(lock)
			return fmt.Sprintf("held by [%s] token %d", its.holders, its.token)
		},
	}
}
