// A client of npm's redlock for tests: answers as ../go/main.go does.
//
// node peer.js HOST:PORT...
'use strict';

const readline = require('node:readline');
const Redis = require('ioredis');
const Redlock = require('redlock');

const servers = process.argv.slice(2).map((address) => {
  const [host, port] = address.split(':');
  return new Redis({ host, port: Number(port) });
});
const held = new Map();

function redlock(retryCount) {
  const made = new Redlock(servers, { retryCount, retryDelay: 200, retryJitter: 50 });
  made.on('clientError', (error) => console.error(error.message));
  return made;
}

// It rejects what a majority of the servers has refused.
async function succeeds(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Redlock.LockError) return null;
    throw error;
  }
}

const verbs = {
  async lock(key, lease, tries) {
    const lock = await succeeds(redlock(Number(tries) - 1).lock(key, Number(lease)));
    if (lock === null) return 'busy';
    held.set(key, lock);
    return lock.value;
  },
  async unlock(key) {
    return String((await succeeds(redlock(0).unlock(held.get(key)))) !== null);
  },
  async steal(key) {
    const thief = new Redlock.Lock(redlock(0), key, 'stolen', Date.now() + 1000);
    return String((await succeeds(thief.unlock())) !== null);
  },
};

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [verb, ...words] = line.split(' ');
    console.log(await verbs[verb](...words));
  }
  for (const server of servers) server.disconnect();
}

main();
