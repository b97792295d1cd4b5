package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.zrecord.Storages;
import io.zrecord.storage.Storage;
import io.zrecord.testing.HttpFault;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tables by ABFS, as programs without Spark open them, and what failures say. */
final class AbfsTableTest {
  @RegisterExtension
  private final FreshAzure azure = new FreshAzure();

  private static Map<String, String> options(URI endpoint) {
    Map<String, String> options = new HashMap<>();
    Configuration defaults = new Configuration();
    for (var setting : FakeAzure.settings(endpoint)) {
      if (!setting.getValue().equals(defaults.getRaw(setting.getKey()))) {
        options.put(setting.getKey(), setting.getValue());
      }
    }
    return options;
  }

  private static Storage storage(URI endpoint, Map<String, String> changed) {
    Map<String, String> options = options(endpoint);
    options.putAll(changed);
    return Storages.at(FakeAzure.container(endpoint) + "/table", options);
  }

  @Test
  void aTableIsWrittenAndRead() {
    TableCheck.writeAndRead(storage(azure.account().endpoint(), Map.of()));
  }

  /** The counters of ABFS in Hadoop 3.5.0 fail if two threads read the end of a file at once. */
  @Test
  void manyReadASmallFileAtOnce() throws Exception {
    Storage storage = storage(azure.account().endpoint(), Map.of());
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try {
      for (int file = 0; file < 50; file++) {
        String name = "small/" + file;
        storage.publish(name, new byte[100]);
        List<Callable<Integer>> reads =
            Collections.nCopies(16, () -> storage.read(name, 1000).length);
        for (Future<Integer> read : threads.invokeAll(reads)) {
          assertThat(read.get()).isEqualTo(100);
        }
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** The second try of a request meets the success of the first, of which nobody was told. */
  @Test
  void aTableIsWrittenThoughEachRenameIsAnsweredLate() {
    azure.account().lookAtTargetsFirst();
    for (int i = 0; i < 20; i++) {
      int number = i;
      azure
          .proxy()
          .inject(
              1,
              request -> request.number() > 10 * number && FakeAzure.isRename(request),
              HttpFault.answerLost());
    }
    TableCheck.writeAndRead(storage(azure.proxy().endpoint(), Map.of()));
    assertThat(azure.proxy().faults()).isPositive();
  }

  @Test
  void noFailureShowsTheKeyOfTheAccount() throws IOException {
    Storage storage = storage(azure.proxy().endpoint(), Map.of());
    storage.publish("m/0", new byte[1]);
    assertThat(storage.toString() + storage.location() + storage.identity())
        .doesNotContain(FakeAzure.KEY);
    List<Throwable> failures = new ArrayList<>();
    for (int status : new int[] {400, 401, 403, 404, 409, 412, 500}) {
      azure.proxy().heal();
      azure
          .proxy()
          .inject(Integer.MAX_VALUE, request -> true, HttpFault.refused(status, "Refused"));
      failures.addAll(failuresOf(storage));
    }
    azure.proxy().close();
    failures.addAll(failuresOf(storage));
    assertThat(failures).hasSizeGreaterThan(40);
    failures.forEach(AbfsTableTest::requireNoSecrets);
  }

  private static List<Throwable> failuresOf(Storage storage) {
    List<Throwable> failures = new ArrayList<>();
    List<Runnable> calls = List.of(
        () -> storage.publish("m/1", new byte[1]),
        () -> storage.create("m/2"),
        () -> storage.replace("m/3", new byte[1]),
        () -> storage.read("m/0", 10),
        () -> storage.open("m/0", 1).region(0, 1),
        () -> storage.list("m"),
        () -> storage.listTree("m"),
        () -> storage.delete("m/0"),
        () -> storage.deleteAll(List.of("m/0")),
        () -> storage.exists("m/0"));
    for (Runnable call : calls) {
      Throwable failure = catchThrowable(call::run);
      if (failure != null) {
        failures.add(failure);
      }
    }
    return failures;
  }

  @Test
  void aKeyThatIsNoneIsNotShownEither() {
    String key = "not base64, but a secret!";
    String host = URI.create(FakeAzure.container(azure.account().endpoint())).getHost();
    Throwable failure = catchThrowable(
        () -> storage(azure.account().endpoint(), Map.of("fs.azure.account.key." + host, key)));
    assertThat(failure).isNotNull();
    assertThat(trace(failure)).doesNotContain(key);
  }

  private static void requireNoSecrets(Throwable failure) {
    assertThat(trace(failure))
        .doesNotContain(FakeAzure.KEY)
        .doesNotContain(new String(Base64.getDecoder().decode(FakeAzure.KEY), UTF_8))
        .doesNotContain("SharedKey");
  }

  private static String trace(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
