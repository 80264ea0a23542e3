// What one goroutine did, as JSON and as a trace.

package main

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"strings"
	"time"
)

// work is what one goroutine did.
type work struct {
	pairs, grants   uint64
	waited, longest time.Duration
	waits           [60 * 32]uint64
	sections        []section
}

// section is the time from a grant to its release.
type section struct{ entered, left time.Time }

// bucket numbers the buckets as histogram.hpp does.
func bucket(nanoseconds uint64) int {
	if nanoseconds < 32 {
		return int(nanoseconds)
	}
	exponent := bits.Len64(nanoseconds) - 1
	return (exponent-4)*32 + int(nanoseconds>>(exponent-5)&31)
}

func (w *work) add(other *work) {
	w.pairs += other.pairs
	w.grants += other.grants
	w.waited += other.waited
	w.longest = max(w.longest, other.longest)
	for each, count := range other.waits {
		w.waits[each] += count
	}
}

func (w *work) json() string {
	var waits []string
	for each, count := range w.waits {
		if count > 0 {
			waits = append(waits, fmt.Sprintf("[%d,%d]", each, count))
		}
	}
	return fmt.Sprintf(`{"pairs":%d,"grants":%d,"waited_ns":%d,"longest_ns":%d,"waits":[%s]}`,
		w.pairs, w.grants, w.waited, w.longest, strings.Join(waits, ","))
}

// writeTrace writes the times of all critical sections on CLOCK_MONOTONIC.
func writeTrace(path string, works []work) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	now, clock := time.Now(), monotonic()
	text := bufio.NewWriter(file)
	for _, each := range works {
		for _, times := range each.sections {
			entered := clock + int64(times.entered.Sub(now))
			left := clock + int64(times.left.Sub(now))
			fmt.Fprintln(text, entered, left)
		}
	}
	return text.Flush()
}
