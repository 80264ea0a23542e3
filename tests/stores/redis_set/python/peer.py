"""A client of redis-py's Lock or of redlock-py for tests: answers as ../go/main.go does.

python/peer.py redis-py|redlock-py HOST:PORT...
"""
import sys

import redis


class RedisPy:
    def __init__(self, servers):
        self.client = servers[0]
        self.held = {}

    def lock(self, key, lease_ms, tries):
        lock = self.client.lock(key, timeout=lease_ms / 1000)
        if not lock.acquire(blocking=tries > 1, blocking_timeout=20):
            return "busy"
        self.held[key] = lock
        return lock.local.token.decode()

    def unlock(self, key):
        try:
            self.held[key].release()
        except redis.exceptions.LockNotOwnedError:
            return False
        return True

    def steal(self, key):
        thief = self.client.lock(key, timeout=1)
        thief.local.token = b"stolen"
        self.held[key], kept = thief, self.held.get(key)
        try:
            return self.unlock(key)
        finally:
            self.held[key] = kept


class RedlockPy:
    def __init__(self, servers):
        import redlock

        self.module = redlock
        self.servers = servers
        self.held = {}

    def manager(self, tries):
        return self.module.Redlock(self.servers, retry_count=tries)

    def lock(self, key, lease_ms, tries):
        lock = self.manager(tries).lock(key, lease_ms)
        if not lock:
            return "busy"
        self.held[key] = lock
        return lock.key.decode()

    def remove(self, lock):
        before = sum(server.exists(lock.resource) for server in self.servers)
        self.manager(1).unlock(lock)
        return sum(server.exists(lock.resource) for server in self.servers) < before

    def unlock(self, key):
        return self.remove(self.held[key])

    def steal(self, key):
        return self.remove(self.module.Lock(0, key, b"stolen"))


def main():
    kinds = {"redis-py": RedisPy, "redlock-py": RedlockPy}
    addresses = [address.split(":") for address in sys.argv[2:]]
    servers = [redis.Redis(host, int(port)) for host, port in addresses]
    peer = kinds[sys.argv[1]](servers)
    for line in sys.stdin:
        verb, key, *numbers = line.split()
        answer = getattr(peer, verb)(key, *map(int, numbers))
        print(str(answer).lower() if isinstance(answer, bool) else answer, flush=True)


main()
