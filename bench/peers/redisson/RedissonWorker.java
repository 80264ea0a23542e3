import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The worker of Redisson: does the workloads that lines on standard input describe.
 *
 * <p>README.md in the folder above describes the lines. Redisson's settings are its defaults.
 */
public final class RedissonWorker {
  private static final int BUCKETS = 60 * 32;

  /** What a line of standard input asks for. Times are in nanoseconds. */
  private record Workload(
      boolean ownKeys,
      String type,
      int threads,
      long inside,
      long warmUp,
      long measured,
      String key,
      String trace) {
    static Workload of(Map<String, String> words) {
      return new Workload(
          words.get("--workload").equals("own"),
          words.get("--type"),
          Integer.parseInt(words.get("--threads")),
          Long.parseLong(words.get("--inside-us")) * 1_000,
          Long.parseLong(words.get("--warm-up-ms")) * 1_000_000,
          Long.parseLong(words.get("--measure-ms")) * 1_000_000,
          words.get("--key"),
          words.get("--trace"));
    }
  }

  /** What one thread did. */
  private static final class Work {
    long pairs, grants, waited, longest;
    final long[] waits = new long[BUCKETS];
    long[] sections = new long[1 << 12];
    int times = 0;

    /** The buckets of histogram.hpp. */
    void addWait(long nanoseconds) {
      int bucket = (int) nanoseconds;
      if (nanoseconds >= 32) {
        int exponent = 63 - Long.numberOfLeadingZeros(nanoseconds);
        bucket = (exponent - 4) * 32 + (int) ((nanoseconds >> (exponent - 5)) & 31);
      }
      ++waits[bucket];
    }

    void addSection(long entered, long left) {
      if (times + 2 > sections.length) sections = Arrays.copyOf(sections, 2 * sections.length);
      sections[times++] = entered;
      sections[times++] = left;
    }

    void add(Work other) {
      pairs += other.pairs;
      grants += other.grants;
      waited += other.waited;
      longest = Math.max(longest, other.longest);
      for (int bucket = 0; bucket < BUCKETS; ++bucket) waits[bucket] += other.waits[bucket];
    }

    String toJson() {
      StringBuilder buckets = new StringBuilder();
      for (int bucket = 0; bucket < BUCKETS; ++bucket) {
        if (waits[bucket] == 0) continue;
        if (buckets.length() > 0) buckets.append(',');
        buckets.append('[').append(bucket).append(',').append(waits[bucket]).append(']');
      }
      return String.format(
          "{\"pairs\":%d,\"grants\":%d,\"waited_ns\":%d,\"longest_ns\":%d,\"waits\":[%s]}",
          pairs, grants, waited, longest, buckets);
    }
  }

  private final RedissonClient client;
  private final BufferedReader input =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private RedissonWorker(String uri) {
    Config config = new Config();
    config.useSingleServer().setAddress(uri);
    client = Redisson.create(config);
  }

  private RLock lock(String type, String key) {
    return switch (type) {
      case "REENTRANT" -> client.getLock(key);
      case "FAIR" -> client.getFairLock(key);
      case "WRITE" -> client.getReadWriteLock(key).writeLock();
      case "FENCED" -> client.getFencedLock(key);
      default -> throw new IllegalArgumentException("no type " + type);
    };
  }

  private static void spend(long time) {
    if (time == 0) return;
    long start = System.nanoTime();
    while (System.nanoTime() - start < time) {
      // The critical section computes something.
    }
  }

  private static void runThread(Workload load, RLock lock, long begin, Work work) {
    long end = begin + load.measured;
    for (long asked = System.nanoTime(); asked < end; asked = System.nanoTime()) {
      lock.lock();
      long granted = System.nanoTime();
      ++work.pairs;
      if (granted >= begin) {
        work.longest = Math.max(work.longest, granted - asked);
        if (granted < end) {
          ++work.grants;
          work.waited += granted - asked;
          work.addWait(granted - asked);
        }
      }
      spend(load.inside);
      if (load.trace != null) work.addSection(granted, System.nanoTime());
      lock.unlock();
    }
  }

  /** On Linux, System.nanoTime() is the monotonic clock, so all processes mean the same time. */
  private long awaitStart() throws IOException {
    System.out.println("ready");
    System.out.flush();
    String line = input.readLine();
    if (line == null || !line.startsWith("start ")) throw new IOException("expected 'start'");
    return Long.parseLong(line.substring(6));
  }

  private static void writeTrace(String path, Work[] works) throws IOException {
    try (PrintWriter file = new PrintWriter(path, StandardCharsets.UTF_8)) {
      for (Work work : works) {
        for (int at = 0; at < work.times; at += 2) {
          file.println(work.sections[at] + " " + work.sections[at + 1]);
        }
      }
    }
  }

  private String run(Workload load) throws Exception {
    Work[] works = new Work[load.threads];
    Thread[] threads = new Thread[load.threads];
    CountDownLatch ready = new CountDownLatch(load.threads);
    CountDownLatch started = new CountDownLatch(1);
    long[] begin = new long[1];
    for (int each = 0; each < load.threads; ++each) {
      Work work = works[each] = new Work();
      RLock lock = lock(load.type, load.ownKeys ? load.key + ":" + each : load.key);
      threads[each] =
          new Thread(
              () -> {
                ready.countDown();
                try {
                  started.await();
                } catch (InterruptedException error) {
                  return;
                }
                runThread(load, lock, begin[0], work);
              });
      threads[each].start();
    }
    ready.await();
    begin[0] = awaitStart() + load.warmUp;
    started.countDown();
    Work sum = new Work();
    for (int each = 0; each < load.threads; ++each) {
      threads[each].join();
      sum.add(works[each]);
    }
    if (load.trace != null) writeTrace(load.trace, works);
    return sum.toJson();
  }

  private static Map<String, String> words(String[] list) {
    Map<String, String> words = new HashMap<>();
    for (int at = 0; at + 1 < list.length; at += 2) words.put(list[at], list[at + 1]);
    return words;
  }

  private void serve() throws Exception {
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(run(Workload.of(words(line.split(" ")))));
      System.out.flush();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, error) -> {
          error.printStackTrace();
          Runtime.getRuntime().halt(1);
        });
    new RedissonWorker(words(arguments).get("--uri")).serve();
    // The end of the input is the end of the process: its connections end with it.
    Runtime.getRuntime().halt(0);
  }
}
