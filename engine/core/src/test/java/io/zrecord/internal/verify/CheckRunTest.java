package io.zrecord.internal.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.RankedBitmap;
import org.junit.jupiter.api.Test;

final class CheckRunTest {
  /** Of a shard whose first record has the index 100: slots 0, 5 and 6 are deleted. */
  private static final RankedBitmap DELETED = RankedBitmap.of(new long[] {0, 5, 6});

  private static Finding ofRecords(long index, long count) {
    return CheckRun.ofRecords(
        new Finding(Kind.VALUE, "file", "field", index, count, "it is wrong"), 100, DELETED);
  }

  @Test
  void slotsBecomeTheRecordsThatAreLeft() {
    assertThat(ofRecords(101, 1).firstIndex()).isEqualTo(100);
    assertThat(ofRecords(107, 1).firstIndex()).isEqualTo(104);
    assertThat(ofRecords(104, 4))
        .extracting(Finding::firstIndex, Finding::count)
        .containsExactly(103L, 2L);
  }

  @Test
  void deletedRecordsAreNoRecords() {
    assertThat(ofRecords(105, 2))
        .extracting(Finding::firstIndex, Finding::count, Finding::problem)
        .containsExactly(-1L, 0L, "it is wrong; the records were deleted");
  }

  @Test
  void whatConcernsNoRecordStays() {
    assertThat(ofRecords(-1, 0).firstIndex()).isEqualTo(-1);
    Finding finding = new Finding(Kind.VALUE, "file", "field", 105, 1, "it is wrong");
    assertThat(CheckRun.ofRecords(finding, 100, null)).isSameAs(finding);
  }
}
