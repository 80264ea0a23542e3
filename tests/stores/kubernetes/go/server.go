// An API server that keeps Leases in memory: versions, conflicts and watches as Kubernetes has them.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

type object = map[string]any

type server struct {
	mutex   sync.Mutex
	version int
	leases  map[string]object // by namespace/name
	events  []event           // all of them, in order
	changed *sync.Cond
}

type event struct {
	namespace string
	line      []byte
}

const api = "/apis/coordination.k8s.io/v1"

func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(object{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "metadata": object{},
		"reason": reason, "message": message, "code": code,
		"details": object{"group": "coordination.k8s.io", "kind": "leases"}})
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body)
}

func metadata(of object) object {
	found, _ := of["metadata"].(object)
	if found == nil {
		found = object{}
		of["metadata"] = found
	}
	return found
}

// Callers hold the mutex.
func (s *server) store(key, kind string, lease object) {
	s.version++
	metadata(lease)["resourceVersion"] = strconv.Itoa(s.version)
	s.leases[key] = lease
	s.publish(key, kind, lease)
}

func (s *server) publish(key, kind string, lease object) {
	line, _ := json.Marshal(object{"type": kind, "object": lease})
	s.events = append(s.events, event{strings.SplitN(key, "/", 2)[0], append(line, '\n')})
	s.changed.Broadcast()
}

func (s *server) list(namespace string) []object {
	items := []object{}
	for key, lease := range s.leases {
		if strings.HasPrefix(key, namespace+"/") {
			items = append(items, lease)
		}
	}
	return items
}

// RFC 7396: a patch of fabric8's client.
func merged(kept, patch object) object {
	result := object{}
	for name, value := range kept {
		result[name] = value
	}
	for name, value := range patch {
		inner, isObject := value.(object)
		if old, both := kept[name].(object); isObject && both {
			result[name] = merged(old, inner)
		} else if value == nil {
			delete(result, name)
		} else {
			result[name] = value
		}
	}
	return result
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, namespace string) {
	w.Header().Set("Content-Type", "application/json")
	s.mutex.Lock()
	items, next := s.list(namespace), len(s.events)
	lines := [][]byte{}
	for _, lease := range items {
		line, _ := json.Marshal(object{"type": "ADDED", "object": lease})
		lines = append(lines, append(line, '\n'))
	}
	s.mutex.Unlock()
	go func() {
		<-r.Context().Done()
		s.changed.Broadcast()
	}()
	for r.Context().Err() == nil {
		for _, line := range lines {
			w.Write(line)
		}
		w.(http.Flusher).Flush()
		lines = lines[:0]
		s.mutex.Lock()
		for next == len(s.events) && r.Context().Err() == nil {
			s.changed.Wait()
		}
		for ; next < len(s.events); next++ {
			if s.events[next].namespace == namespace {
				lines = append(lines, s.events[next].line)
			}
		}
		s.mutex.Unlock()
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == api {
		reply(w, 200, object{"kind": "APIResourceList", "groupVersion": "coordination.k8s.io/v1"})
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, api+"/namespaces/"), "/")
	if len(parts) < 2 || parts[1] != "leases" {
		status(w, 404, "NotFound", "the server could not find the requested resource")
		return
	}
	namespace, name := parts[0], ""
	if len(parts) > 2 {
		name = parts[2]
	}
	if r.URL.Query().Get("watch") != "" && r.URL.Query().Get("watch") != "false" {
		s.watch(w, r, namespace)
		return
	}
	body := object{}
	if r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			status(w, 400, "BadRequest", err.Error())
			return
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if r.Method == "POST" {
		name, _ = metadata(body)["name"].(string)
	}
	key := namespace + "/" + name
	kept, exists := s.leases[key]
	switch {
	case r.Method == "GET" && name == "":
		reply(w, 200, object{"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1",
			"metadata": object{"resourceVersion": strconv.Itoa(s.version)}, "items": s.list(namespace)})
	case r.Method == "POST" && exists:
		status(w, 409, "AlreadyExists", "leases \""+name+"\" already exists")
	case r.Method == "POST":
		metadata(body)["namespace"] = namespace
		metadata(body)["uid"] = "uid-" + name
		s.store(key, "ADDED", body)
		reply(w, 201, body)
	case !exists:
		status(w, 404, "NotFound", "leases \""+name+"\" not found")
	case r.Method == "GET":
		reply(w, 200, kept)
	case r.Method == "PUT" || r.Method == "PATCH":
		given, _ := metadata(body)["resourceVersion"].(string)
		if given != "" && given != metadata(kept)["resourceVersion"] {
			status(w, 409, "Conflict", "the object has been modified")
			return
		}
		if r.Method == "PATCH" {
			body = merged(kept, body)
		}
		s.store(key, "MODIFIED", body)
		reply(w, 200, body)
	case r.Method == "DELETE":
		delete(s.leases, key)
		s.version++
		metadata(kept)["resourceVersion"] = strconv.Itoa(s.version)
		s.publish(key, "DELETED", kept)
		reply(w, 200, kept)
	default:
		status(w, 405, "MethodNotAllowed", r.Method+" is not served")
	}
}

// Each request must carry the token, by HTTP/2 or HTTP/1.
func serve(certificate, key, token string) {
	s := &server{version: 100, leases: map[string]object{}}
	s.changed = sync.NewCond(&s.mutex)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			status(w, 401, "Unauthorized", "Unauthorized")
			return
		}
		s.ServeHTTP(w, r)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	check(http.ServeTLS(listener, handler, certificate, key))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
