package io.zrecord.spark.column;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Defaults as Spark reads them. */
class DefaultSqlTest {
  @ParameterizedTest
  @CsvSource({
    "2020-01-01T00:00:00Z, 2020-01-01T00:00:00Z",
    "2020-01-01T12:30:00Z, 2020-01-01T12:30:00Z",
    "1969-12-31T23:59:59.999999Z, 1969-12-31T23:59:59.999999Z"
  })
  void aTimeHasItsSecondsBeforeTheZone(String time, String expected) {
    byte[] micros = ByteBuffer.allocate(Long.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(time)))
        .array();
    FieldSpec field = new FieldSpec(1, "t", ElementType.TIMESTAMP, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withWrite(micros));
    assertThat(DefaultSql.of(field)).contains("CAST('" + expected + "' AS TIMESTAMP)");
  }
}
