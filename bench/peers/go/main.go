// The worker of the Go libraries: does the workloads that lines on standard input describe.
//
// README.md in the folder above describes the lines.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// workload is what a line of standard input asks for.
type workload struct {
	ownKeys                  bool
	threads                  int
	inside, warmUp, measured time.Duration
	key, trace               string
}

func words(list []string) map[string]string {
	found := map[string]string{}
	for at := 0; at+1 < len(list); at += 2 {
		found[list[at]] = list[at+1]
	}
	return found
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	check(err)
	return value
}

func parse(line string) workload {
	given := words(strings.Fields(line))
	if kind := given["--type"]; kind != "REENTRANT" {
		check(fmt.Errorf("no type %s: the Go libraries have a plain mutex only", kind))
	}
	return workload{
		ownKeys:  given["--workload"] == "own",
		threads:  int(number(given["--threads"])),
		inside:   time.Duration(number(given["--inside-us"])) * time.Microsecond,
		warmUp:   time.Duration(number(given["--warm-up-ms"])) * time.Millisecond,
		measured: time.Duration(number(given["--measure-ms"])) * time.Millisecond,
		key:      given["--key"],
		trace:    given["--trace"],
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// monotonic is the time of CLOCK_MONOTONIC in nanoseconds, which all processes share.
func monotonic() int64 {
	var now unix.Timespec
	check(unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
	return now.Nano()
}

// awaitStart waits for the line `start N`, where N is the time of CLOCK_MONOTONIC.
func awaitStart(input *bufio.Scanner) time.Time {
	fmt.Println("ready")
	if !input.Scan() || !strings.HasPrefix(input.Text(), "start ") {
		check(fmt.Errorf("expected 'start'"))
	}
	start := number(strings.TrimPrefix(input.Text(), "start "))
	return time.Now().Add(time.Duration(start - monotonic()))
}

func spend(length time.Duration) {
	if length == 0 {
		return
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
	}
}

func runThread(load workload, key lock, begin time.Time, done *work) {
	end := begin.Add(load.measured)
	for asked := time.Now(); asked.Before(end); asked = time.Now() {
		unlock, err := key()
		check(err)
		granted := time.Now()
		done.pairs++
		if wait := granted.Sub(asked); !granted.Before(begin) {
			done.longest = max(done.longest, wait)
			if granted.Before(end) {
				done.grants++
				done.waited += wait
				done.waits[bucket(uint64(wait))]++
			}
		}
		spend(load.inside)
		if load.trace != "" {
			done.sections = append(done.sections, section{granted, time.Now()})
		}
		check(unlock())
	}
}

func run(locks locker, load workload, input *bufio.Scanner) work {
	works := make([]work, load.threads)
	var begin time.Time
	var ready, done sync.WaitGroup
	started := make(chan struct{})
	for each := range works {
		key := load.key
		if load.ownKeys {
			key += ":" + strconv.Itoa(each)
		}
		mutex := locks(key)
		ready.Add(1)
		done.Add(1)
		go func() {
			ready.Done()
			<-started
			runThread(load, mutex, begin, &works[each])
			done.Done()
		}()
	}
	ready.Wait()
	begin = awaitStart(input).Add(load.warmUp)
	close(started)
	done.Wait()
	var sum work
	for each := range works {
		sum.add(&works[each])
	}
	if load.trace != "" {
		check(writeTrace(load.trace, works))
	}
	return sum
}

func main() {
	given := words(os.Args[1:])
	locks, err := connect(given["--library"], given["--uri"])
	check(err)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		done := run(locks, parse(input.Text()), input)
		fmt.Println(done.json())
	}
	check(input.Err())
}
