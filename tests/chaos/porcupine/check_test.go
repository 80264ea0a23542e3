// SPDX-License-Identifier: BSL-1.0
package main

import (
	"errors"
	"strings"
	"testing"
)

// checked returns what check says of a history whose lines are separated by semicolons.
func checked(t *testing.T, history string) error {
	t.Helper()
	var said strings.Builder
	err := check(strings.NewReader(strings.ReplaceAll(history, ";", "\n")), &said, t.TempDir())
	if (err == nil) != (said.String() == "") && errors.Is(err, errViolation) {
		t.Errorf("%v, but it says %q", err, said.String())
	}
	return err
}

const (
	// key model verb client hold called returned token
	oneAfterTheOther = "0 mutex acquire 1 1 10 20 0;0 mutex release 1 1 30 40 0;" +
		"0 mutex acquire 2 2 11 45 0;0 mutex release 2 2 50 60 0"
	bothAtOnce = "0 mutex acquire 1 1 10 20 0;0 mutex release 1 1 40 50 0;" +
		"0 mutex acquire 2 2 11 30 0;0 mutex release 2 2 60 70 0"
	afterALoss = "0 mutex acquire 1 1 10 20 0;0 mutex release 1 1 22 0 0;" +
		"0 mutex acquire 2 2 11 30 0;0 mutex release 2 2 60 70 0"
	beforeALoss = "0 mutex acquire 1 1 10 20 0;0 mutex release 1 1 31 0 0;" +
		"0 mutex acquire 2 2 11 30 0;0 mutex release 2 2 60 70 0"
	readers = "0 rwlock acquire_shared 1 1 10 20 0;0 rwlock acquire_shared 2 2 10 20 0;" +
		"0 rwlock release 1 1 30 40 0;0 rwlock release 2 2 30 40 0;" +
		"0 rwlock acquire 3 3 11 50 0;0 rwlock release 3 3 60 70 0"
	writerAmongReaders = "0 rwlock acquire_shared 1 1 10 20 0;0 rwlock release 1 1 60 70 0;" +
		"0 rwlock acquire_shared 2 2 10 20 0;0 rwlock release 2 2 30 40 0;" +
		"0 rwlock acquire 3 3 11 50 0;0 rwlock release 3 3 60 70 0"
	risingTokens = "0 fenced acquire 1 1 10 20 7;0 fenced release 1 1 30 40 0;" +
		"0 fenced acquire 2 2 11 50 8;0 fenced release 2 2 60 70 0"
	fallingTokens = "0 fenced acquire 1 1 10 20 8;0 fenced release 1 1 30 40 0;" +
		"0 fenced acquire 2 2 25 50 7;0 fenced release 2 2 60 70 0"
	sameToken = "0 fenced acquire 1 1 10 20 8;0 fenced release 1 1 30 40 0;" +
		"0 fenced acquire 2 2 25 50 8;0 fenced release 2 2 60 70 0"
	fencedReaders = "0 fenced_rwlock acquire_shared 1 1 10 20 0;0 fenced_rwlock release 1 1 30 40 0;" +
		"0 fenced_rwlock acquire 2 2 11 50 8;0 fenced_rwlock release 2 2 60 70 0"
	twoPermits = "0 semaphore:2 acquire 1 1 10 20 0;0 semaphore:2 acquire 2 2 10 20 0;" +
		"0 semaphore:2 release 1 1 30 40 0;0 semaphore:2 acquire 3 3 10 35 0"
	threeOfTwoPermits = "0 semaphore:2 acquire 1 1 10 20 0;0 semaphore:2 acquire 2 2 10 20 0;" +
		"0 semaphore:2 acquire 3 3 10 25 0;0 semaphore:2 release 1 1 30 40 0"
	releasedTwice = "0 mutex acquire 1 1 10 20 0;0 mutex release 1 1 30 40 0;0 mutex release 1 1 50 60 0"
	sharedMutex   = "0 mutex acquire_shared 1 1 10 20 0"
	secondKey     = "1 mutex acquire 1 1 10 20 0;" + bothAtOnce
)

func TestHistoriesOfCorrectLocksAreLinearizable(t *testing.T) {
	for name, history := range map[string]string{"one after the other": oneAfterTheOther,
		"after a loss": afterALoss, "readers": readers, "rising tokens": risingTokens,
		"fenced readers": fencedReaders, "two permits": twoPermits} {
		if err := checked(t, history); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHistoriesThatViolateAreReported(t *testing.T) {
	for name, history := range map[string]string{"both at once": bothAtOnce,
		"before a loss": beforeALoss, "a writer among readers": writerAmongReaders,
		"falling tokens": fallingTokens, "the same token": sameToken,
		"three of two permits": threeOfTwoPermits, "released twice": releasedTwice,
		"a shared mutex": sharedMutex, "the second key": secondKey} {
		if err := checked(t, history); !errors.Is(err, errViolation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsNoHistoryIsRefused(t *testing.T) {
	for history, expected := range map[string]string{
		"0 mutex acquire 1 1 10 20":                                "line 1: expected 8 words, not 7",
		"0 mutex take 1 1 10 20 0":                                 `line 1: unknown verb "take"`,
		"0 mutex acquire 1 1 20 10 0":                              "line 1: returned at 10, before the call at 20",
		"0 latch acquire 1 1 10 20 0":                              `unknown model "latch"`,
		"0 semaphore:0 acquire 1 1 1 2 0":                          `unknown model "semaphore:0"`,
		"0 mutex acquire 1 1 10 20 0;0 fenced acquire 1 1 10 20 0": "line 2: key 0 is a mutex and a fenced",
	} {
		if err := checked(t, history); err == nil || err.Error() != expected {
			t.Errorf("%q: %v", history, err)
		}
	}
}
