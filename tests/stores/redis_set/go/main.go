// A client of redsync for tests: does what lines on standard input say.
//
//	lock KEY LEASE_MS TRIES   answers the value of the lock, or "busy"
//	unlock KEY                answers true or false
//	steal KEY                 unlocks with a value of its own that holds nothing
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

// The errors that say that the lock is not this mutex's.
func answer(done bool, err error) string {
	var taken *redsync.ErrTaken
	if err != nil && !errors.Is(err, redsync.ErrLockAlreadyExpired) && !errors.As(err, &taken) {
		return "error " + err.Error()
	}
	return strconv.FormatBool(done && err == nil)
}

func main() {
	var all []pools.Pool
	for _, address := range os.Args[1:] {
		all = append(all, goredis.NewPool(redis.NewClient(&redis.Options{Addr: address})))
	}
	locks := redsync.New(all...)
	mutexes := map[string]*redsync.Mutex{}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		words := strings.Fields(input.Text())
		key := words[1]
		switch words[0] {
		case "lock":
			lease := time.Duration(number(words[2])) * time.Millisecond
			mutex := locks.NewMutex(key, redsync.WithExpiry(lease), redsync.WithTries(number(words[3])))
			if err := mutex.Lock(); err != nil {
				fmt.Println("busy")
				break
			}
			mutexes[key] = mutex
			fmt.Println(mutex.Value())
		case "unlock":
			fmt.Println(answer(mutexes[key].Unlock()))
		case "steal":
			fmt.Println(answer(locks.NewMutex(key, redsync.WithValue("stolen")).Unlock()))
		}
	}
}
