// fabric8's elector, with the words of the program in ../go:
//
//   ElectorPeer elect <server> <ca> <token file> <namespace> <lease> <identity> <duration> <deadline> <period>
//
// It prints "leads" and "stopped" with the time in nanoseconds. SIGTERM ends it with a release: before
// that it prints "stopped", as a program ends its work before it.

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

public final class ElectorPeer {
    private static void say(String word) {
        Instant now = Instant.now();
        System.out.println(word + " " + (now.getEpochSecond() * 1_000_000_000L + now.getNano()));
        System.out.flush();
    }

    private static Duration length(String text) {
        return text.endsWith("ms")
                ? Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)))
                : Duration.ofSeconds(Long.parseLong(text.substring(0, text.length() - 1)));
    }

    public static void main(String[] words) throws Exception {
        KubernetesClient client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder()
                        .withMasterUrl(words[1])
                        .withCaCertFile(words[2])
                        .withOauthToken(Files.readString(Path.of(words[3])).trim())
                        .build())
                .build();
        CompletableFuture<?> elector = client.leaderElector()
                .withConfig(new LeaderElectionConfigBuilder()
                        .withName("latchkey")
                        .withLock(new LeaseLock(words[4], words[5], words[6]))
                        .withLeaseDuration(length(words[7]))
                        .withRenewDeadline(length(words[8]))
                        .withRetryPeriod(length(words[9]))
                        .withReleaseOnCancel(true)
                        .withLeaderCallbacks(new LeaderCallbacks(
                                () -> say("leads"), () -> say("stopped"), leader -> { }))
                        .build())
                .build()
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            say("stopped");
            elector.cancel(true);
            try {
                TimeUnit.SECONDS.sleep(2);  // the release runs on a thread of the elector
            } catch (InterruptedException ignored) {
                Thread.currentThread().interrupt();
            }
        }));
        new CompletableFuture<Void>().get();
    }
}
