package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Values of the golden datasets as they are in a file that readers in other languages are tested
 * with.
 */
final class GoldenValuesTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "v2-values.json",
        "v2-blocks-values.json",
        "v2-patches-values.json",
        "v2-carried-values.json",
        "v2-moved-values.json",
        "v2-replaced-values.json",
        "v2-rewritten-2-values.json",
        "v2-rewritten-3-values.json",
        "v2-rewritten-4-values.json",
        "v2-units-values.json"
      })
  void valuesAreThoseThatOtherLanguagesAreTestedWith(String file) throws IOException {
    JsonNode vectors = new ObjectMapper().readTree(GOLDEN.resolve(file).toFile());
    long[] records = StreamSupport.stream(vectors.get("records").spliterator(), false)
        .mapToLong(JsonNode::longValue)
        .toArray();
    Path path = GOLDEN.resolve(vectors.get("dataset").textValue());
    assertThat(Files.isDirectory(path)).isTrue();
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    try (RecordDataset dataset = RecordDataset.open(
        table.version(vectors.get("version").longValue()), ReadOptions.defaults())) {
      assertThat(vectors.get("values").fieldNames())
          .toIterable()
          .containsExactlyElementsOf(
              dataset.schema().fields().stream().map(field -> field.name()).toList());
      for (String name : (Iterable<String>) () -> vectors.get("values").fieldNames()) {
        try (Batch batch = dataset.gather(records, name)) {
          for (int i = 0; i < records.length; i++) {
            JsonNode expected = vectors.get("values").get(name).get(i);
            assertThat(batch.isAbsent(name, i) ? null : hex(batch.value(name, i)))
                .as("%s of record %d", name, records[i])
                .isEqualTo(expected.textValue());
          }
        }
      }
    }
  }

  private static String hex(ByteBuffer value) {
    byte[] bytes = new byte[value.remaining()];
    value.duplicate().get(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
