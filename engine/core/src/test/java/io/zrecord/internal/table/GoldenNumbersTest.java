package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class GoldenNumbersTest {
  @Test
  void everyNumberOfBothVersionsIsRead() {
    RecordTable table = RecordTable.at(LocalStorage.at(GoldenNumbers.DIRECTORY));
    assertThat(numbers(table.version(0))).isEqualTo(GoldenNumbers.FIRST);
    assertThat(numbers(table.version(1))).isEqualTo(GoldenNumbers.SECOND);
    assertThat(DatasetCheck.of(GoldenNumbers.DIRECTORY.toString())
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  private static List<@Nullable Integer> numbers(TableSnapshot snapshot) {
    List<@Nullable Integer> numbers = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("number");
      for (long index = 0; index < snapshot.length(); index++) {
        reader.select(new long[] {index}, 0, 1);
        numbers.add(
            reader.isAbsent(0)
                ? null
                : ByteBuffer.wrap(reader.value(0))
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .getInt());
      }
    }
    return numbers;
  }
}
