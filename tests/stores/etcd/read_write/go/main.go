// Takes part in locks by the recipes of etcd's own client, as the arguments say:
//
//	etcd_recipe <address> hold <kind> <key> <file>
//	etcd_recipe <address> contend <key> <file> <goroutines> <seconds>
//
// kind: read and write are the two sides of recipe.RWMutex, mutex is concurrency.Mutex.
//
// hold writes <file>.waits with the lease of its session, asks for the lock, writes <file>.granted,
// and keeps the lock until there is <file>.go.
//
// In contend each goroutine takes the lock of <key> again and again: one in four times for writing,
// when it adds one to the number in <file>, and otherwise for reading, when the number must stay the
// same. It prints how often it has written.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
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
	made, err := concurrency.NewSession(client, concurrency.WithTTL(10))
	check(err)
	return made
}

func write(file, text string) {
	check(os.WriteFile(file+".new", []byte(text), 0o600))
	check(os.Rename(file+".new", file))
}

func hold(client *clientv3.Client, kind, key, file string) {
	own := session(client)
	write(file+".waits", fmt.Sprintf("%x", own.Lease()))
	lock, unlock := func() error { return nil }, func() error { return nil }
	if kind == "mutex" {
		mutex := concurrency.NewMutex(own, key)
		lock = func() error { return mutex.Lock(context.Background()) }
		unlock = func() error { return mutex.Unlock(context.Background()) }
	} else {
		mutex := recipe.NewRWMutex(own, key)
		lock, unlock = mutex.Lock, mutex.Unlock
		if kind == "read" {
			lock, unlock = mutex.RLock, mutex.RUnlock
		}
	}
	check(lock())
	write(file+".granted", "")
	for {
		if _, err := os.Stat(file + ".go"); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	check(unlock())
	check(own.Close())
}

func number(file string) int {
	text, err := os.ReadFile(file)
	check(err)
	value, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(err)
	return value
}

func contend(address, key, file string, goroutines int, length time.Duration) int64 {
	var written atomic.Int64
	var group sync.WaitGroup
	end := time.Now().Add(length)
	for index := 0; index < goroutines; index++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client := connect(address)
			defer client.Close()
			own := session(client)
			defer own.Close()
			for round := index; time.Now().Before(end); round++ {
				mutex := recipe.NewRWMutex(own, key)
				if round%4 == 0 {
					check(mutex.Lock())
					value := number(file)
					time.Sleep(time.Millisecond)
					check(os.WriteFile(file, []byte(strconv.Itoa(value+1)), 0o600))
					written.Add(1)
					check(mutex.Unlock())
					continue
				}
				check(mutex.RLock())
				value := number(file)
				time.Sleep(time.Millisecond)
				if number(file) != value {
					check(fmt.Errorf("somebody wrote while Go was reading"))
				}
				check(mutex.RUnlock())
			}
		}()
	}
	group.Wait()
	return written.Load()
}

func main() {
	switch {
	case len(os.Args) == 6 && os.Args[2] == "hold":
		client := connect(os.Args[1])
		defer client.Close()
		hold(client, os.Args[3], os.Args[4], os.Args[5])
	case len(os.Args) == 7 && os.Args[2] == "contend":
		goroutines, err := strconv.Atoi(os.Args[5])
		check(err)
		seconds, err := strconv.Atoi(os.Args[6])
		check(err)
		length := time.Duration(seconds) * time.Second
		fmt.Println(contend(os.Args[1], os.Args[3], os.Args[4], goroutines, length))
	default:
		check(fmt.Errorf("usage: etcd_recipe <address> hold|contend ..."))
	}
}
