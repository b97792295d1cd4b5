package io.zrecord.spark.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.feed.spec.SamplerName;
import io.zrecord.feed.spec.SamplerParameter;
import io.zrecord.read.Verification;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.ReferenceTables;
import io.zrecord.testing.ReferenceTables.Row;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.Test;

/** The tables of docs/reference/spark-options.md and docs/reference/samplers.md. */
class DocumentedOptionsTest {
  private static final ReferenceTables OPTIONS = ReferenceTables.of("spark-options");
  private static final ReferenceTables SAMPLERS = ReferenceTables.of("samplers");

  @Test
  void everyOptionHasOneRow() throws IllegalAccessException {
    List<String> documented = new ArrayList<>();
    for (String heading :
        List.of("Paths", "Reading", "Changes", "Streams", "Reading and writing", "Writing")) {
      OPTIONS.rows(heading).forEach(row -> documented.add(row.name()));
    }
    SAMPLERS.rows("Options").forEach(row -> documented.add(row.name()));
    assertThat(documented).containsExactlyInAnyOrderElementsOf(options());
  }

  @Test
  void optionsOfAReadAreAcceptedByAReadAndOptionsOfAWriteByAWrite() {
    List<Row> read = new ArrayList<>(OPTIONS.rows("Reading"));
    read.addAll(OPTIONS.rows("Changes"));
    read.addAll(OPTIONS.rows("Streams"));
    read.addAll(OPTIONS.rows("Reading and writing"));
    read.addAll(SAMPLERS.rows("Options"));
    for (Row row : read) {
      assertThatCode(() -> KnownOptions.requireKnownForReading(
              new CaseInsensitiveStringMap(Map.of(row.name(), "refuse"))))
          .doesNotThrowAnyException();
    }
    List<Row> written = new ArrayList<>(OPTIONS.rows("Writing"));
    written.addAll(OPTIONS.rows("Reading and writing"));
    for (Row row : written) {
      String name = row.name().replace("<field>", "image");
      assertThatCode(() -> KnownOptions.requireKnownForWriting(
              new CaseInsensitiveStringMap(Map.of(name, "refuse"))))
          .doesNotThrowAnyException();
    }
  }

  @Test
  void aRefusalNamesEachOptionOnce() {
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(Map.of("bogus", "1"));
    for (String option : List.of("unknownOptions", "path", "compression.<field>")) {
      assertThatThrownBy(() -> KnownOptions.requireKnownForWriting(options))
          .hasMessageContaining("unknown option bogus")
          .message()
          .containsOnlyOnce(option);
    }
    assertThatThrownBy(() -> KnownOptions.requireKnownForReading(options))
        .message()
        .containsOnlyOnce("unknownOptions");
  }

  @Test
  void everyDefaultIsThatOfTheCode() {
    ReadConf read = ReadConf.ofRecords(CaseInsensitiveStringMap.empty(), Map.of());
    assertThat(bytes("batchRows")).isEqualTo(read.batchRows());
    assertThat(bytes("batchBytes")).isEqualTo(read.batchBytes());
    assertThat(Verification.valueOf(text("verify"))).isEqualTo(read.verification());
    assertThat(Boolean.valueOf(text("statistics"))).isEqualTo(read.usesStatistics());

    WriteOptions write = new WriteConf(CaseInsensitiveStringMap.empty()).writeOptions();
    assertThat(bytes("chunkBytes")).isEqualTo(write.chunkBytes());
    assertThat(bytes("stripeBytes")).isEqualTo(write.stripeBytes());
    assertThat(bytes("alignBytes")).isEqualTo(write.alignBytes());
    assertThat(bytes("blockBytes")).isEqualTo(write.blockBytes());
    assertThat(text("transform")).isEqualTo(write.transform().name());
    assertThat(text("checksum")).isEqualTo(write.checksum().name());
    assertThat(text("durability")).isEqualTo(write.durability().name());
  }

  @Test
  void everySamplerHasOneRow() {
    assertThat(SAMPLERS.rows("Names").stream().map(Row::name))
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(SamplerName.values()).map(SamplerName::toString).toList());
  }

  @Test
  void everySamplerIsNamedBesideItsOptions() {
    for (SamplerName sampler : SamplerName.values()) {
      for (Row row : SAMPLERS.rows("Options")) {
        boolean isDocumented =
            row.text(2).equals("all") || row.code(2).contains(sampler.toString());
        boolean isTaken =
            sampler.parameters().stream().map(SamplerParameter::text).anyMatch(row.name()::equals);
        assertThat(isTaken).as("%s takes %s", sampler, row.name()).isEqualTo(isDocumented);
      }
    }
  }

  private static String text(String option) {
    return OPTIONS.row(option).text(1).toUpperCase(Locale.ROOT);
  }

  private static long bytes(String option) {
    return JavaUtils.byteStringAsBytes(OPTIONS.row(option).text(1));
  }

  /** The names in the code; those that end with a dot are followed by a field. */
  private static List<String> options() throws IllegalAccessException {
    List<String> names = new ArrayList<>(ZRecordOptions.OF_SAMPLERS);
    for (Field field : ZRecordOptions.class.getDeclaredFields()) {
      boolean isText = field.getType() == String.class && Modifier.isStatic(field.getModifiers());
      if (isText && !field.getName().equals("FORMAT")) {
        String name = (String) field.get(null);
        names.add(name.endsWith(".") ? name + "<field>" : name);
      }
    }
    return names;
  }
}
