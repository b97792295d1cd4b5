package io.zrecord.internal.store.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DamagedEntriesTest {
  private final DamagedEntries bad = new DamagedEntries(finding -> {});

  private void find(String field, long first, long count) {
    bad.finding(new Finding(Kind.VALUE, "file", field, first, count, "damaged"));
  }

  @Test
  void eachValueIsHandedOut() {
    find("a", 3, 1);
    find("a", 4, 2);
    find("a", 9, 1);
    find("b", 4, 1);
    List<String> values = new ArrayList<>();
    bad.forEach((field, index) -> values.add(field + index));
    assertThat(values).containsExactly("a3", "a4", "a5", "a9", "b4");
    assertThat(bad.count()).isEqualTo(5);
  }

  @Test
  void eachRecordIsNamedOnceFromTheHighest() {
    find("a", 3, 4);
    find("a", 20, 1);
    find("b", 5, 4);
    find("b", 15, 1);
    find("c", 4, 1);
    assertThat(bad.recordsDescending()).containsExactly(20, 15, 8, 7, 6, 5, 4, 3);
  }

  @Test
  void thereMayBeMoreBadValuesThanAnIntCounts() {
    int records = 100_000;
    for (int field = 0; field < 30_000; field++) {
      find("field " + field, 0, records);
    }
    assertThat(bad.count()).isGreaterThan(Integer.MAX_VALUE);
    assertThat(bad.recordsDescending()).hasSize(records).startsWith(records - 1).endsWith(0);
  }
}
