package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.DamagedCopies.Original;
import io.zrecord.DamagedCopies.Outcome;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.Verification;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One file of a golden table, or of one whose fields and records were changed, is damaged, and the
 * newest version opened and read: what was damaged is a typed exception, and all that is read is as
 * it was. Without verification the same shows wrong values.
 */
class MutatedTablesTest {
  private static final int COPIES = Budget.of(40);
  private static final int COPIES_UNVERIFIED = 100;

  /** One in 25 at least has the outcome that is looked for: none does with 1e-17. */
  private static final int MOST_COPIES = 1_000;

  private static final long SEED = Budget.seed();
  private static final Path GOLDEN = Path.of("src/test/resources/golden");

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "changed",
        "v2/table",
        "v2/entries",
        "v2-blocks",
        "v2-fields",
        "v2-index-map",
        "v2-lists",
        "v2-numbers",
        "v2-patches",
        "v2-moved",
        "v2-rewritten",
        "v2-versions/care"
      })
  void whatIsDamagedIsRefusedAndTheRestIsAsItWas(String name) throws Exception {
    Path path = GOLDEN.resolve(name);
    if (name.equals("changed")) {
      path = directory.resolve(name);
      ChangedTable.write(path, SEED);
    }
    RecordSchema schema = RecordTable.at(LocalStorage.at(path)).latest().schema();
    List<Original> originals = List.of(Original.of(path, List.of(records(path, schema)), ""));
    DamagedCopies damaged =
        damage(name, schema, originals, COPIES, Verification.FIRST, Outcome.REFUSED);
    assertThat(damaged.failures(Outcome.WRONG)).isEmpty();
    assertThat(damaged.failures(Outcome.UNTYPED)).isEmpty();
    assertThat(damaged.failures(Outcome.GREEDY)).isEmpty();
    assertThat(damaged.failures(Outcome.HANGING)).isEmpty();
    assertThat(damaged.count(Outcome.REFUSED)).isPositive();
    if (name.equals("changed")) {
      DamagedCopies unverified =
          damage(name, schema, originals, COPIES_UNVERIFIED, Verification.NEVER, Outcome.WRONG);
      assertThat(unverified.count(Outcome.WRONG)).isPositive();
    }
  }

  /** Damages copies, and more of them until one comes to the outcome that most tables show. */
  private DamagedCopies damage(
      String name,
      RecordSchema schema,
      List<Original> originals,
      int copies,
      Verification verification,
      Outcome outcome)
      throws Exception {
    DamagedCopies damaged = new DamagedCopies(
            directory, SEED, schema, copy -> DamagedReading.openTable(copy, verification))
        .run(copies, originals)
        .runUntil(outcome, MOST_COPIES, originals);
    System.out.println(name + ", verification " + verification + ": " + damaged);
    return damaged;
  }

  /** Reads the table without damage. */
  private static List<byte[] @Nullable []> records(Path path, RecordSchema schema) {
    List<byte[] @Nullable []> records = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      int length = (int) dataset.length();
      try (Batch batch = dataset.gather(LongStream.range(0, length).toArray())) {
        for (int i = 0; i < length; i++) {
          byte[][] values = new byte[schema.fields().size()][];
          for (int field = 0; field < values.length; field++) {
            FieldSpec spec = schema.fields().get(field);
            values[field] = batch.isAbsent(spec.name(), i) ? null : batch.bytes(spec.name(), i);
          }
          records.add(values);
        }
      }
    }
    return records;
  }
}
