import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryNTimes;

/**
 * Does with Curator's locks what lines on standard input say, and answers with a line each.
 *
 * <pre>
 *   request   TAG ACTOR VERB TYPE PATH [ARGUMENT...]
 *   answer    TAG RESULT            in the order in which the actors finish
 * </pre>
 *
 * An actor is a thread of its own, so an owner of its own. Types: plain, read, write. Verbs: lock,
 * try WAIT, unlock, count TIMES FILE (raises the number in the file that often, each time under the
 * lock), pairs MILLISECONDS (how often it takes and releases the lock in that time), swap TIMES
 * (takes and releases the lock that often; the nanoseconds of all). Times are in milliseconds.
 * Arguments: the server's address, and the session timeout.
 */
public final class CuratorPeer {
  private final CuratorFramework client;
  private final Map<String, ExecutorService> actors = new ConcurrentHashMap<>();
  private final Map<String, InterProcessLock> locks = new ConcurrentHashMap<>();

  private CuratorPeer(String address, int session) throws Exception {
    client =
        CuratorFrameworkFactory.newClient(address, session, 5_000, new RetryNTimes(10, 100));
    client.start();
    client.blockUntilConnected();
  }

  private InterProcessLock lock(String type, String path) {
    return locks.computeIfAbsent(
        type + " " + path,
        name ->
            switch (type) {
              case "plain" -> new InterProcessMutex(client, path);
              case "read" -> new InterProcessReadWriteLock(client, path).readLock();
              case "write" -> new InterProcessReadWriteLock(client, path).writeLock();
              default -> throw new IllegalArgumentException("no type " + type);
            });
  }

  private String perform(String[] words) throws Exception {
    InterProcessLock lock = lock(words[3], words[4]);
    switch (words[2]) {
      case "lock":
        lock.acquire();
        return "true";
      case "try":
        return Boolean.toString(lock.acquire(Long.parseLong(words[5]), TimeUnit.MILLISECONDS));
      case "unlock":
        lock.release();
        return "true";
      case "count":
        return count(lock, Integer.parseInt(words[5]), Path.of(words[6]));
      case "pairs":
        return pairs(lock, Long.parseLong(words[5]));
      case "swap":
        return swap(lock, Integer.parseInt(words[5]));
      default:
        throw new IllegalArgumentException("no verb " + words[2]);
    }
  }

  private static String count(InterProcessLock lock, int times, Path file) throws Exception {
    for (int round = 0; round < times; ++round) {
      lock.acquire();
      long number = Long.parseLong(Files.readString(file).trim());
      Files.writeString(file, Long.toString(number + 1));
      lock.release();
    }
    return "true";
  }

  private static String pairs(InterProcessLock lock, long milliseconds) throws Exception {
    long end = System.nanoTime() + 1_000_000 * milliseconds;
    long pairs = 0;
    for (; System.nanoTime() < end; ++pairs) {
      lock.acquire();
      lock.release();
    }
    return Long.toString(pairs);
  }

  private static String swap(InterProcessLock lock, int times) throws Exception {
    long begin = System.nanoTime();
    for (int round = 0; round < times; ++round) {
      lock.acquire();
      lock.release();
    }
    return Long.toString(System.nanoTime() - begin);
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
    CuratorPeer peer = new CuratorPeer(arguments[0], Integer.parseInt(arguments[1]));
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
