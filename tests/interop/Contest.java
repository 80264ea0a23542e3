import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.RedissonWriteLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;

/** Contends for a lock: see tests/interop/contest.hpp, whose words have these numbers. */
final class Contest {
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
    // A thread of Redisson that found a WRITE held, and does not sleep yet, misses its release by
    // Redisson: it sleeps until the next release, and this may be the last one.
    final long wait = lock instanceof RedissonWriteLock ? 1_000 : 20_000;
    for (long waited = 0; waited < 20_000; waited += wait) {
      if (lock.tryLock(wait, 30_000, TimeUnit.MILLISECONDS)) {
        return 0L;
      }
    }
    return null;
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
