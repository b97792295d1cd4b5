package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.nested.NestedArray;
import io.zrecord.nested.NestedView;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fields of nested values, from the writer to the reader and the check. */
class NestedFieldTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final NestedType TURNS = NestedType.listOf(new NestedType.StructOf(List.of(
      new NestedType.Member("role", NestedType.of(ElementType.UTF8)),
      new NestedType.Member("tokens", NestedType.listOf(NestedType.of(ElementType.I32))),
      new NestedType.Member("box", NestedType.of(ElementType.F32, Shape.of(2))))));
  private static final NestedType SCORES =
      NestedType.mapOf(NestedType.of(ElementType.UTF8), NestedType.of(ElementType.F64));

  @TempDir
  Path directory;

  private static RecordSchema schema(String compression) {
    return RecordSchema.builder()
        .field("id", ElementType.I64)
        .field("turns", ElementType.nested(TURNS), Shape.scalar(), Compression.parse(compression))
        .field("scores", ElementType.nested(SCORES), Shape.scalar(), Compression.parse(compression))
        .build();
  }

  private static List<Map<String, Object>> turns(int i) {
    List<Map<String, Object>> turns = new ArrayList<>();
    for (int t = 0; t < i % 4; t++) {
      Map<String, Object> turn = new HashMap<>();
      turn.put("role", t % 2 == 0 ? "user" : null);
      turn.put("tokens", List.of(i, t, -1));
      turn.put("box", t == 2 ? null : List.of((float) i, 0.5f));
      turns.add(turn);
    }
    return turns;
  }

  /** Returns what is given to the writer: tensors are arrays there. */
  private static List<Map<String, Object>> given(List<Map<String, Object>> turns) {
    List<Map<String, Object>> given = new ArrayList<>();
    for (Map<String, Object> turn : turns) {
      Map<String, Object> copy = new HashMap<>(turn);
      if (copy.get("box") instanceof List<?> box) {
        copy.put("box", new float[] {(Float) box.get(0), (Float) box.get(1)});
      }
      given.add(copy);
    }
    return given;
  }

  private void write(String compression, int count) {
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        directory.resolve("d").toString(), schema(compression), OPTIONS)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < count; i++) {
        records.set("id", (long) i);
        if (i % 5 != 0) {
          records.set("turns", given(turns(i)));
        }
        records.set("scores", Map.of("a" + i, i / 2.0));
        records.endRecord();
      }
      writer.commit();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"raw", "zstd", "flate", "lz4"})
  void whatWasWrittenIsRead(String compression) {
    write(compression, 500);
    NestedView view = new NestedView(TURNS);
    NestedView scores = new NestedView(SCORES);
    try (RecordDataset dataset = RecordDataset.open(directory.resolve("d").toString())) {
      assertThat(dataset.schema().fields().get(1).type()).isEqualTo(ElementType.nested(TURNS));
      FieldReader reader = dataset.reader("turns");
      FieldReader others = dataset.reader("scores");
      reader.selectRange(0, 500, Long.MAX_VALUE);
      others.selectRange(0, 500, Long.MAX_VALUE);
      for (int i = 0; i < 500; i++) {
        assertThat(reader.isAbsent(i)).isEqualTo(i % 5 == 0);
        if (i % 5 != 0) {
          NestedArray found = view.read("turns", reader.view(i));
          assertThat(found.value(0)).isEqualTo(turns(i));
        }
        assertThat(scores.read("scores", others.view(i)).value(0))
            .isEqualTo(List.of(Map.entry("a" + i, i / 2.0)));
      }
    }
    assertThat(check().damageCount()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"raw", "zstd"})
  void aCheckFindsBytesThatAreNoNestedValue(String compression) {
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        directory.resolve("d").toString(), schema(compression), OPTIONS)) {
      ShardWriter shard = writer.newAppender().shard();
      for (int i = 0; i < 10; i++) {
        byte[] wrong = new byte[64];
        shard.putLong(0, i);
        if (i == 7) {
          shard.put(1, wrong, 0, wrong.length);
        }
        shard.endRecord();
      }
      writer.commit();
    }
    CheckSummary summary = check();
    assertThat(summary.badValueCount()).isEqualTo(1);
  }

  private CheckSummary check() {
    List<Finding> findings = new ArrayList<>();
    return DatasetCheck.of(directory.resolve("d").toString()).run(findings::add);
  }

  @Test
  void valuesThatDoNotFitAreRefused() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.resolve("d").toString(), schema("raw"), OPTIONS)) {
      RecordAppender records = writer.newAppender();
      for (Object wrong : List.of(
          7,
          "text",
          new byte[16],
          List.of("text"),
          List.of(Map.of("role", 7)),
          List.of(Map.of("role", "user", "unknown", 1)))) {
        assertThatIllegalArgumentException()
            .as("%s", wrong)
            .isThrownBy(() -> records.set("turns", wrong));
      }
      Map<String, Double> absentKey = new HashMap<>();
      absentKey.put(null, 1.0);
      assertThatIllegalArgumentException().isThrownBy(() -> records.set("scores", absentKey));
    }
  }
}
