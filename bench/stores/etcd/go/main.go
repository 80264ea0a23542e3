// The worker of Go's concurrency.Mutex: does the workload that its arguments describe.
//
//	etcd_peer <address> pairs <threads> <seconds>      prints lock/unlock pairs per second
//	etcd_peer <address> hand-off <others> <seconds>    prints the median hand-off in microseconds
//
// Each goroutine of `pairs` has a key and a session of its own, as a session can hold a lock once.
// In `hand-off` two sessions of two connections wait for one key in turn, while <others> more take
// other locks.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connect(address string) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	check(err)
	return client
}

func session(client *clientv3.Client) *concurrency.Session {
	made, err := concurrency.NewSession(client)
	check(err)
	return made
}

func pairs(address string, threads int, length time.Duration) float64 {
	client := connect(address)
	defer client.Close()
	shared := session(client)
	defer shared.Close()
	var done atomic.Int64
	var group sync.WaitGroup
	end := time.Now().Add(length)
	for number := 0; number < threads; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			mutex := concurrency.NewMutex(shared, fmt.Sprintf("go:%d", number))
			for time.Now().Before(end) {
				check(mutex.Lock(context.Background()))
				check(mutex.Unlock(context.Background()))
				done.Add(1)
			}
		}()
	}
	group.Wait()
	return float64(done.Load()) / length.Seconds()
}

// From before the unlock of one to after the lock of the other.
func handOff(address string, others int, length time.Duration) float64 {
	var released atomic.Int64
	var mutex sync.Mutex
	var taken []int64
	var group sync.WaitGroup
	end := time.Now().Add(length)
	for side := 0; side < 2; side++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client := connect(address)
			defer client.Close()
			own := session(client)
			defer own.Close()
			lock := concurrency.NewMutex(own, "go:hand-off")
			for time.Now().Before(end) {
				check(lock.Lock(context.Background()))
				now := time.Now().UnixNano()
				if at := released.Swap(0); at != 0 {
					mutex.Lock()
					taken = append(taken, now-at)
					mutex.Unlock()
				}
				time.Sleep(5 * time.Millisecond) // until the other one waits
				released.Store(time.Now().UnixNano())
				check(lock.Unlock(context.Background()))
			}
		}()
	}
	for number := 0; number < others; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client := connect(address)
			defer client.Close()
			own := session(client)
			defer own.Close()
			lock := concurrency.NewMutex(own, fmt.Sprintf("go:other%d", number))
			for time.Now().Before(end) {
				check(lock.Lock(context.Background()))
				check(lock.Unlock(context.Background()))
			}
		}()
	}
	group.Wait()
	sort.Slice(taken, func(one, other int) bool { return taken[one] < taken[other] })
	if len(taken) == 0 {
		return 0
	}
	return float64(taken[len(taken)/2]) / 1000
}

func main() {
	if len(os.Args) != 5 {
		check(fmt.Errorf("usage: etcd_peer <address> pairs|hand-off <threads> <seconds>"))
	}
	threads, err := strconv.Atoi(os.Args[3])
	check(err)
	seconds, err := strconv.ParseFloat(os.Args[4], 64)
	check(err)
	length := time.Duration(seconds * float64(time.Second))
	if os.Args[2] == "pairs" {
		fmt.Println(pairs(os.Args[1], threads, length))
		return
	}
	fmt.Println(handOff(os.Args[1], threads, length))
}
