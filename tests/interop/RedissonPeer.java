import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
import org.redisson.client.RedisConnectionException;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.ShardedSubscriptionMode;
import org.redisson.config.SingleServerConfig;

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
 * lock LEASE (-1: watchdog), try WAIT LEASE, token LEASE (fenced), try_token WAIT LEASE (fenced;
 * null: busy), unlock, force, count, locked, ttl, contend MICROSECONDS NUMBER FILE. Other times are
 * in milliseconds. "TAG ACTOR retire" ends an actor: the next one of that name is a new owner.
 *
 * <p>Arguments: the server's URI, and the watchdog's period; or URIs of a cluster's nodes with
 * commas between them, the same, and the ShardedSubscriptionMode. If the property latchkey.timeout
 * is set, the client waits that many milliseconds for each reply, starts although its server is
 * away, and tells the server that its connections are those of "redisson".
 */
public final class RedissonPeer {
  private final RedissonClient client;
  private final Map<String, ExecutorService> actors = new ConcurrentHashMap<>();

  /** How long a client of a server that has faults waits for a reply, in milliseconds; or null. */
  private static final Integer TIMEOUT = Integer.getInteger("latchkey.timeout");

  private RedissonPeer(Config config, long watchdog) {
    config.setLockWatchdogTimeout(watchdog);
    client = create(config);
  }

  private static RedissonClient create(Config config) {
    while (true) {
      try {
        return Redisson.create(config);
      } catch (RedisConnectionException error) {
        if (TIMEOUT == null) {
          throw error;
        }
        LockSupport.parkNanos(20_000_000);
      }
    }
  }

  private static Config server(String uri) {
    Config config = new Config();
    SingleServerConfig server =
        config.useSingleServer()
            .setAddress(uri)
            .setConnectionMinimumIdleSize(2)
            .setSubscriptionConnectionMinimumIdleSize(1);
    if (TIMEOUT != null) {
      server
          .setClientName("redisson")
          .setTimeout(TIMEOUT)
          .setConnectTimeout(TIMEOUT)
          .setSubscriptionTimeout(2 * TIMEOUT)
          .setPingConnectionInterval(TIMEOUT)
          .setRetryAttempts(1)
          .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)))
          .setReconnectionDelay(new ConstantDelay(Duration.ofMillis(100)));
    }
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
      case "try_token":
        return String.valueOf(
            ((RFencedLock) lock)
                .tryLockAndGetToken(
                    Long.parseLong(words[5]), Long.parseLong(words[6]), TimeUnit.MILLISECONDS));
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

  private void accept(String line) {
    String[] words = line.split(" ");
    if (words[2].equals("retire")) {
      ExecutorService retired = actors.remove(words[1]);
      if (retired != null) {
        retired.shutdown();
      }
      answer(words[0], "true");
      return;
    }
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
              answer(words[0], result);
            });
  }

  private static void answer(String tag, String result) {
    synchronized (System.out) {
      System.out.println(tag + " " + result);
      System.out.flush();
    }
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
