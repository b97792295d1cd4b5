package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.shard.ShardSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random appends, overwrites, tags, expiries and sweeps, beside a model of what should be there. */
final class TableCareTest {
  private static final int STEPS = 150;

  @TempDir
  Path directory;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void everyRetainedVersionStaysAndNothingElseDoes(long seed) throws IOException {
    Random random = new Random(seed);
    TableModel model = new TableModel(directory.resolve("table"));
    model.append(3);
    int swept = 0;
    int expired = 0;
    for (int step = 0; step < STEPS; step++) {
      model.pass(Duration.ofMinutes(random.nextInt(24 * 60)));
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> model.append(1 + random.nextInt(5));
        case 3 -> model.overwrite(1 + random.nextInt(5));
        case 4 -> model.write(1); // A write that fails before it commits.
        case 5 -> strayFile(model, random);
        case 6 -> model.tag(any(model.versions.keySet(), random), "tag-" + step);
        case 7 -> untag(model, random);
        case 8 -> expired += expire(model, random);
        default -> swept += sweep(model, random);
      }
      model.requireEqual();
    }
    assertThat(expired).as("seed %d", seed).isPositive();
    assertThat(swept).as("seed %d", seed).isPositive();
  }

  private static void untag(TableModel model, Random random) {
    if (!model.tags.isEmpty()) {
      String name = any(model.tags.keySet(), random);
      model.table.untag(name);
      model.tags.remove(name);
    }
  }

  /** As of a change of a shard that was not committed, and of a publication that was cut short. */
  private static void strayFile(TableModel model, Random random) throws IOException {
    String shard = any(model.versions.get(model.newestVersion()), random).directory();
    Files.writeString(
        model.path.resolve(shard).resolve("stray-" + random.nextInt() + ".runs"), "x");
    Files.writeString(model.path.resolve(shard).resolve("chunk/77.zr"), "x");
    Files.writeString(model.path.resolve("manifest/.x" + random.nextInt() + ".tmp"), "x");
    Files.createDirectories(model.path.resolve("list"));
    Files.writeString(model.path.resolve("list/" + random.nextInt() + ".json"), "x");
  }

  private static int expire(TableModel model, Random random) {
    ExpireOptions options = ExpireOptions.defaults()
        .withKeepVersions(1 + random.nextInt(4))
        .withOlderThan(Duration.ofHours(1 + random.nextInt(72)))
        .withMode(random.nextInt(4) == 0 ? CareMode.DRY_RUN : CareMode.DELETE);
    Set<Long> due = model.due(options);
    ExpireResult result = model.table.expire(options);
    assertThat(result.expired()).containsExactlyElementsOf(due);
    if (options.mode() == CareMode.DRY_RUN) {
      return 0;
    }
    model.versions.keySet().removeAll(due);
    assertThat(result.keptCount()).isEqualTo(model.versions.size());
    return due.size();
  }

  private static int sweep(TableModel model, Random random) {
    model.stamp();
    SweepOptions options = SweepOptions.defaults()
        .withOlderThan(Duration.ofHours(1 + random.nextInt(96)))
        .withMode(random.nextInt(4) == 0 ? CareMode.DRY_RUN : CareMode.DELETE);
    Map<String, Instant> before = model.files();
    List<Orphan> orphans = new ArrayList<>();
    SweepResult result = model.table.sweep(options, orphans::add);
    Set<String> after = model.files().keySet();
    assertThat(result.fileCount())
        .isEqualTo(orphans.stream().mapToLong(Orphan::fileCount).sum());
    if (options.mode() == CareMode.DRY_RUN) {
      assertThat(after).isEqualTo(before.keySet());
      return 0;
    }
    Set<String> gone = new TreeSet<>(before.keySet());
    gone.removeAll(after);
    assertThat(result.fileCount()).isEqualTo(gone.size());
    for (String file : gone) {
      assertThat(before.get(file))
          .as(file)
          .isBeforeOrEqualTo(model.instant().minus(options.olderThan()));
    }
    // What is left and is not named is young, or stands in a directory that is.
    Set<String> named = model.namedShards();
    assertThat(result.youngFileCount())
        .isEqualTo(after.stream().filter(file -> !isNamed(file, named)).count());
    return gone.size();
  }

  private static boolean isNamed(String file, Set<String> namedShards) {
    boolean isStray = file.contains("stray") || file.endsWith("/77.zr");
    return file.startsWith("shard/")
        ? !isStray && namedShards.stream().anyMatch(shard -> file.startsWith(shard + "/"))
        : file.startsWith("tag/") || file.matches("manifest/\\d{20}\\.json");
  }

  private static <T> T any(Iterable<T> items, Random random) {
    List<T> list = new ArrayList<>();
    items.forEach(list::add);
    return list.get(random.nextInt(list.size()));
  }

  private static ShardSummary any(List<ShardSummary> shards, Random random) {
    return shards.get(random.nextInt(shards.size()));
  }
}
