"""Starts a Redis server of its own for a test class, on a Unix socket in a temporary folder."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest


def program():
    return (
        os.environ.get("LATCHKEY_REDIS_SERVER")
        or shutil.which("redis-server")
        or shutil.which("valkey-server")
    )


class RedisServer:
    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="latchkey-python-")
        self.socket = os.path.join(self._folder, "socket")
        self.uri = "redis+unix://" + self.socket
        self._start()

    def _start(self) -> None:
        options = ["--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self._folder]
        self._process = subprocess.Popen([program(), *options], stdout=subprocess.DEVNULL)
        wait_until(lambda: self._process.poll() is not None or self._answers())

    def _answers(self) -> bool:
        try:
            return self.command("PING") == "+PONG"
        except OSError:
            return False

    def command(self, *words: str) -> str:
        """The first line of the reply."""
        lines = [f"*{len(words)}"]
        for word in words:
            lines += [f"${len(word.encode())}", word]
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket)
            connection.sendall(("\r\n".join(lines) + "\r\n").encode())
            return connection.makefile().readline().rstrip()

    def stop(self) -> None:
        """It is killed, and starts no more."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)


def wait_until(condition, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("what the test waits for did not happen")
        time.sleep(0.005)  # sleeps: another process says nothing when this happens


class OnRedis(unittest.TestCase):
    """Tests with a server, which those of one class share; each has keys of its own."""

    server: RedisServer

    @classmethod
    def setUpClass(cls) -> None:
        if program() is None:
            raise unittest.SkipTest("there is no redis-server: make deps installs it")
        cls.server = RedisServer()
        cls.addClassCleanup(cls.server.close)
