// FerretDB as a server for tests, which executes one command at a time.
//
// MongoDB applies findAndModify and delete to a document in one step. FerretDB 1.24 reads and
// writes in two: here no other command runs in between.
package main

import (
	"context"
	"encoding/binary"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// The longest message that MongoDB accepts.
const longest = 48_000_000

// copyMessage forwards one message of the wire protocol. It begins with its length.
func copyMessage(to io.Writer, from io.Reader) error {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size < 16 || size > longest {
		return io.ErrUnexpectedEOF
	}
	message := make([]byte, size)
	copy(message, length[:])
	if _, err := io.ReadFull(from, message[4:]); err != nil {
		return err
	}
	_, err := to.Write(message)
	return err
}

// readMessage reads one message completely, so that a slow client delays nobody else.
func readMessage(from io.Reader) ([]byte, error) {
	var buffer sliceWriter
	err := copyMessage(&buffer, from)
	return buffer, err
}

type sliceWriter []byte

func (s *sliceWriter) Write(data []byte) (int, error) {
	*s = append(*s, data...)
	return len(data), nil
}

// serve forwards the commands of one client and their replies.
func serve(client net.Conn, socket string, turn *sync.Mutex) {
	defer client.Close()
	server, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer server.Close()
	for {
		command, err := readMessage(client)
		if err != nil {
			return
		}
		turn.Lock()
		var reply []byte
		if _, err = server.Write(command); err == nil {
			reply, err = readMessage(server)
		}
		turn.Unlock()
		if err != nil {
			return
		}
		if _, err = client.Write(reply); err != nil {
			return
		}
	}
}

// Arguments: the address to listen on, and the folder of the data.
func main() {
	address, folder := os.Args[1], os.Args[2]
	socket := filepath.Join(folder, "socket")
	os.Remove(socket) // of a server that was killed
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{Unix: socket},
		Handler:   "sqlite",
		SQLiteURL: "file:" + folder + "/",
	})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		var turn sync.Mutex
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(client, socket, &turn)
		}
	}()
	if err := f.Run(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}
