package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.shard.Durability;
import io.zrecord.testing.ReferenceTables;
import io.zrecord.testing.ReferenceTables.Row;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of docs/reference/durability.md. */
class DocumentedStoresTest {
  private static final ReferenceTables PAGE = ReferenceTables.of("durability");

  @Test
  void everyDurabilityHasOneRow() {
    assertThat(names("Tables"))
        .containsExactlyElementsOf(Stream.of(Durability.values())
            .map(durability -> durability.name().toLowerCase(Locale.ROOT))
            .toList());
    assertThat(names("Stores"))
        .containsExactlyElementsOf(
            Stream.of(StoreDurability.values()).map(Enum::name).toList());
  }

  @Test
  void everyOptionOfAStoreHasOneRowWithItsDefault() throws ReflectiveOperationException {
    RecordComponent[] options = StoreOptions.class.getRecordComponents();
    assertThat(names("Options of a store"))
        .containsExactlyElementsOf(
            Arrays.stream(options).map(RecordComponent::getName).toList());
    for (RecordComponent option : options) {
      Object value = option.getAccessor().invoke(StoreOptions.defaults());
      assertThat(PAGE.row(option.getName()).text(1))
          .as("default of %s", option.getName())
          .isEqualTo(shown(option.getName(), value));
    }
  }

  private static List<String> names(String heading) {
    return PAGE.rows(heading).stream().map(Row::name).toList();
  }

  private static String shown(String name, Object value) {
    if (value instanceof Duration duration) {
      return duration.toMinutes() + " minute";
    }
    return name.endsWith("Bytes") ? ((Long) value >> 20) + "m" : value.toString();
  }
}
