package io.zrecord.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordStore;
import io.zrecord.StoreOptions;
import io.zrecord.testing.Budget;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding;
import io.zrecord.verify.SampleStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever is done to the files of a store but its meta file: a repair makes it sound, and no value
 * becomes another one.
 */
final class RandomRepairTest {
  private static final int ROUNDS = Math.max(8, Budget.of(40));

  private final long seed = Budget.seed();

  @TempDir
  Path directory;

  @Test
  void ofAClosedStore() throws IOException {
    Path original = SampleStore.closed(directory.resolve("original"));
    List<String> expected = values(original);
    Random random = Budget.random();
    long lost = 0;
    int round = 0;
    // Some damages take no value.
    for (; round < ROUNDS || (lost == 0 && round < ROUNDS + 100); round++) {
      Path path = Damage.copy(original, directory.resolve("copy" + round));
      List<String> damages = damage(path, random);
      repair(path, damages);
      List<String> found = values(path);
      assertThat(found).hasSameSizeAs(expected);
      for (int i = 0; i < found.size(); i++) {
        if (!found.get(i).equals(expected.get(i))) {
          assertThat(found.get(i))
              .as("value %s after %s, seed %s", i, damages, seed)
              .isEqualTo("absent");
          lost++;
        }
      }
    }
    assertThat(lost).isBetween(1L, (long) round * expected.size());
  }

  @Test
  void ofTheStoreOfAKilledWriter() throws IOException {
    Path original = SampleStore.killed(directory);
    Random random = Budget.random();
    for (int round = 0; round < ROUNDS; round++) {
      Path path = Damage.copy(original, directory.resolve("copy" + round));
      List<String> damages = damage(path, random);
      repair(path, damages);
      assertThat(values(path)).as("after %s, seed %s", damages, seed).isNotEmpty();
    }
  }

  private void repair(Path path, List<String> damages) {
    DatasetRepair.of(path.toString())
        .damagedValues(DamagedValues.MARK_ABSENT)
        .run(finding -> {}, plan -> true);
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    assertThat(findings)
        .as("after %s, seed %s", damages, seed)
        .noneMatch(finding -> finding.kind().isDamage());
  }

  private static List<String> damage(Path path, Random random) throws IOException {
    List<Path> files;
    try (Stream<Path> found = Files.walk(path)) {
      files = found
          .filter(Files::isRegularFile)
          .filter(file -> !file.endsWith("meta.json") && !file.endsWith("lock"))
          .sorted()
          .toList();
    }
    List<String> damages = new ArrayList<>();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      Path file = files.get(random.nextInt(files.size()));
      String name = path.relativize(file).toString();
      if (!Files.exists(file) || Files.size(file) == 0) {
        continue;
      }
      // Mostly where there is something.
      int reach = (int) Math.min(Files.size(file), 9000);
      int at = random.nextInt(reach);
      switch (random.nextInt(4)) {
        case 0 -> {
          Damage.delete(file);
          damages.add("delete " + name);
        }
        case 1 -> {
          Damage.cut(file, at);
          damages.add("cut " + name + " at " + at);
        }
        default -> {
          Damage.flip(file, at);
          damages.add("flip " + name + " at " + at);
        }
      }
    }
    return damages;
  }

  private static List<String> values(Path path) {
    List<String> values = new ArrayList<>();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      long[] indices = java.util.stream.LongStream.range(0, store.length()).toArray();
      try (Batch batch = store.gather(indices)) {
        for (String field : batch.fields()) {
          for (int i = 0; i < batch.count(); i++) {
            values.add(
                batch.isAbsent(field, i)
                    ? "absent"
                    : new String(batch.bytes(field, i), StandardCharsets.ISO_8859_1));
          }
        }
      }
    }
    return values;
  }
}
