// The neighbours of the store kubernetes.
//
//	peer serve <certificate> <key> <token>
//	    an API server with the Leases of all namespaces, in memory, on https://127.0.0.1; prints its port
//	peer elect <server> <ca> <token file> <namespace> <lease> <identity> <duration> <deadline> <period>
//	    client-go's elector; prints "leads" and "stopped" with the time in nanoseconds; SIGTERM ends it
//	    with a release: before that it prints "stopped", as a program ends its work before it
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func say(word string) {
	fmt.Println(word, time.Now().UnixNano())
}

func length(text string) time.Duration {
	parsed, err := time.ParseDuration(text)
	check(err)
	return parsed
}

func elect(words []string) {
	client, err := coordinationv1.NewForConfig(&rest.Config{
		Host:            words[0],
		TLSClientConfig: rest.TLSClientConfig{CAFile: words[1]},
		BearerTokenFile: words[2],
		// The server speaks no Protocol Buffers.
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	check(err)
	ctx, cancel := context.WithCancel(context.Background())
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		say("stopped")
		cancel()
	}()
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: words[3], Name: words[4]},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: words[5]},
		},
		LeaseDuration:   length(words[6]),
		RenewDeadline:   length(words[7]),
		RetryPeriod:     length(words[8]),
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { say("leads") },
			OnStoppedLeading: func() { say("stopped") },
		},
	})
}

func main() {
	switch {
	case len(os.Args) == 5 && os.Args[1] == "serve":
		serve(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 11 && os.Args[1] == "elect":
		elect(os.Args[2:])
	default:
		check(fmt.Errorf("usage: peer serve …, or peer elect …"))
	}
}
