import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/**
 * Does with Redisson's locks what lines on standard input say, and answers with a line each.
 *
 * <pre>
 *   request   TAG ACTOR VERB TYPE KEY [ARGUMENT...]
 *   answer    TAG RESULT            in the order in which the actors finish
 * </pre>
 *
 * An actor is a thread of its own, so an owner of its own. Types: plain, fair, read, write, fenced.
 * A latch (type latch) has the verbs set COUNT, down, count, await WAIT, delete. A semaphore (type
 * permit) has the verbs permits NUMBER, acquire NUMBER WAIT LEASE (-1: no end; answers ids),
 * release ID,ID,... , lease ID LEASE, available, total, set NUMBER, delete. Those of locks:
 * lock LEASE (-1: watchdog), try WAIT LEASE, token LEASE (fenced), unlock, force, count,
 * locked, ttl, contend MICROSECONDS NUMBER FILE. Other times are in milliseconds. Arguments: the
 * server's URI, and the watchdog's period; or URIs of a cluster's nodes with commas between them,
 * the same, and the ShardedSubscriptionMode.
 */
public final class RedissonPeer {
  private final RedissonClient client;
  private final Map<String, ExecutorService> actors = new ConcurrentHashMap<>();

  private RedissonPeer(Config config, long watchdog) {
    config.setLockWatchdogTimeout(watchdog);
    client = Redisson.create(config);
  }

  private static Config server(String uri) {
    Config config = new Config();
    config.useSingleServer()
        .setAddress(uri)
        .setConnectionMinimumIdleSize(2)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return config;
  }

  private static Config cluster(String uris, String sharded) {
    Config config = new Config();
    config.useClusterServers()
        .addNodeAddress(uris.split(","))
        .setShardedSubscriptionMode(ShardedSubscriptionMode.valueOf(sharded))
        .setScanInterval(1_000)
        .setMasterConnectionMinimumIdleSize(2)
        .setSlaveConnectionMinimumIdleSize(1)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return config;
  }

  private RLock lock(String type, String key) {
    return switch (type) {
      case "plain" -> client.getLock(key);
      case "fair" -> client.getFairLock(key);
      case "read" -> client.getReadWriteLock(key).readLock();
      case "write" -> client.getReadWriteLock(key).writeLock();
      case "fenced" -> client.getFencedLock(key);
      default -> throw new IllegalArgumentException("no type " + type);
    };
  }

  private static String latch(RCountDownLatch latch, String[] words) throws Exception {
    switch (words[2]) {
      case "set":
        return Boolean.toString(latch.trySetCount(Long.parseLong(words[5])));
      case "down":
        latch.countDown();
        return "true";
      case "count":
        return Long.toString(latch.getCount());
      case "await":
        return Boolean.toString(latch.await(Long.parseLong(words[5]), TimeUnit.MILLISECONDS));
      case "delete":
        return Boolean.toString(latch.delete());
      default:
        throw new IllegalArgumentException("no verb " + words[2]);
    }
  }

  private String perform(String[] words) throws Exception {
    if (words[3].equals("latch")) {
      return latch(client.getCountDownLatch(words[4]), words);
    }
    if (words[3].equals("permit")) {
      return performPermits(client.getPermitExpirableSemaphore(words[4]), words);
    }
    RLock lock = lock(words[3], words[4]);
    switch (words[2]) {
      case "lock":
        lock.lock(Long.parseLong(words[5]), TimeUnit.MILLISECONDS);
        return "true";
      case "try":
        return Boolean.toString(
            lock.tryLock(Long.parseLong(words[5]), Long.parseLong(words[6]), TimeUnit.MILLISECONDS));
      case "token":
        Long token =
            ((RFencedLock) lock)
                .tryLockAndGetToken(60_000, Long.parseLong(words[5]), TimeUnit.MILLISECONDS);
        return String.valueOf(token);
      case "unlock":
        lock.unlock();
        return "true";
      case "force":
        return Boolean.toString(lock.forceUnlock());
      case "count":
        return Integer.toString(lock.getHoldCount());
      case "locked":
        return Boolean.toString(lock.isLocked());
      case "ttl":
        return Long.toString(lock.remainTimeToLive());
      case "contend":
        return new Contest(words[7])
            .contend(lock, Integer.parseInt(words[6]), Long.parseLong(words[5]));
      default:
        throw new IllegalArgumentException("no verb " + words[2]);
    }
  }

  private static String performPermits(RPermitExpirableSemaphore semaphore, String[] words)
      throws Exception {
    switch (words[2]) {
      case "permits":
        return Boolean.toString(semaphore.trySetPermits(Integer.parseInt(words[5])));
      case "acquire":
        List<String> ids =
            semaphore.tryAcquire(
                Integer.parseInt(words[5]),
                Long.parseLong(words[6]),
                Long.parseLong(words[7]),
                TimeUnit.MILLISECONDS);
        return ids.isEmpty() ? "none" : String.join(",", ids);
      case "release":
        semaphore.release(Arrays.asList(words[5].split(",")));
        return "true";
      case "try_release":
        return Boolean.toString(semaphore.tryRelease(words[5]));
      case "lease":
        return Boolean.toString(
            semaphore.updateLeaseTime(words[5], Long.parseLong(words[6]), TimeUnit.MILLISECONDS));
      case "available":
        return Integer.toString(semaphore.availablePermits());
      case "acquired":
        return Integer.toString(semaphore.acquiredPermits());
      case "total":
        return Integer.toString(semaphore.getPermits());
      case "set":
        semaphore.setPermits(Integer.parseInt(words[5]));
        return "true";
      case "delete":
        return Boolean.toString(semaphore.delete());
      default:
        throw new IllegalArgumentException("no verb " + words[2]);
    }
  }

  /** Contends for a lock: see tests/interop/contest.hpp, whose words have these numbers. */
  private static final class Contest {
    private static final VarHandle WORDS =
        MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final int PHASE = 0, UPDATES = 1, OCCUPANT = 2, OVERLAPS = 3;
    private static final int LAST_TOKEN = 4, STALE_TOKENS = 5, CONTENDERS = 6;
    private static final int WARM_GRANTS = 0, GRANTS = 1, LONGEST_WAIT = 2, OF_ONE = 3;
    private static final long MEASURED = 1, OVER = 2;

    private final ByteBuffer words;

    Contest(String path) throws Exception {
      try (FileChannel file =
          FileChannel.open(Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        words = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size());
      }
    }

    private long get(int word) {
      return (long) WORDS.getVolatile(words, 8 * word);
    }

    private void set(int word, long value) {
      WORDS.setVolatile(words, 8 * word, value);
    }

    private void add(int word) {
      long before = (long) WORDS.getAndAdd(words, 8 * word, 1L);
    }

    /** Takes the lock. Returns its token, 0 if it has none; null: it waited in vain. */
    private static Long take(RLock lock) throws Exception {
      if (lock instanceof RFencedLock) {
        return ((RFencedLock) lock).tryLockAndGetToken(20_000, 30_000, TimeUnit.MILLISECONDS);
      }
      return lock.tryLock(20_000, 30_000, TimeUnit.MILLISECONDS) ? 0L : null;
    }

    String contend(RLock lock, int number, long inside) throws Exception {
      int own = CONTENDERS + OF_ONE * number;
      while (get(PHASE) != OVER) {
        long asked = System.nanoTime();
        Long token = take(lock);
        if (token == null) {
          return "an acquire waited for 20 s in vain";
        }
        long waited = System.nanoTime() - asked;
        if (get(PHASE) == MEASURED) {
          add(own + GRANTS);
          set(own + LONGEST_WAIT, Math.max(get(own + LONGEST_WAIT), waited));
        } else {
          add(own + WARM_GRANTS);
        }
        visit(number + 1, token, inside);
        lock.unlock();
      }
      return "true";
    }

    private void visit(long id, long token, long inside) {
      if ((long) WORDS.getAndSet(words, 8 * OCCUPANT, id) != 0) {
        add(OVERLAPS);
      }
      long seen = get(UPDATES);
      if (token != 0 && token <= get(LAST_TOKEN)) {
        add(STALE_TOKENS);
      }
      if (token != 0) {
        set(LAST_TOKEN, token);
      }
      if (inside > 0) {
        LockSupport.parkNanos(1_000 * inside);
      }
      set(UPDATES, seen + 1);
      if ((long) WORDS.getAndSet(words, 8 * OCCUPANT, 0L) != id) {
        add(OVERLAPS);
      }
    }
  }

  private void accept(String line) {
    String[] words = line.split(" ");
    actors
        .computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor())
        .execute(
            () -> {
              String result;
              try {
                result = perform(words);
              } catch (Throwable error) {
                result = "error " + error.getClass().getSimpleName();
              }
              synchronized (System.out) {
                System.out.println(words[0] + " " + result);
                System.out.flush();
              }
            });
  }

  public static void main(String[] arguments) throws Exception {
    Config config =
        arguments.length > 2 ? cluster(arguments[0], arguments[2]) : server(arguments[0]);
    RedissonPeer peer = new RedissonPeer(config, Long.parseLong(arguments[1]));
    System.out.println("ready");
    System.out.flush();
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        peer.accept(line);
      }
    }
    // The end of the input is the end of the process, whatever its actors wait for.
    Runtime.getRuntime().halt(0);
  }
}
