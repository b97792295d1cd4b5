package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.testing.ObjectStorage;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The newest version on a store of objects, whose lists may be late. */
final class ObjectNewestVersionTest extends NewestVersionTest {
  @BeforeAll
  static void useObjects() {
    Simulation.useObjects(true);
  }

  @AfterAll
  static void useFiles() {
    Simulation.useObjects(false);
  }

  private ObjectStorage lateBy(int changes) {
    return ((ObjectStorage) storage).listingWithout(changes);
  }

  /** Returns the number that a search would find that trusts the list. */
  private long greatestListed() {
    List<Long> listed = new ManifestLog(storage).listed();
    return listed.get(listed.size() - 1);
  }

  /** The control is in the test: what the list shows is an old version. */
  @Test
  void aLateListLeadsToTheNewestVersion() {
    storage.delete(ManifestNames.HINT);
    lateBy(20);
    assertThat(greatestListed()).isLessThan(40);
    assertThat(new ManifestLog(storage).last().orElseThrow().version()).isEqualTo(40);
  }

  @Test
  void aTableOfWhichTheListShowsNothingIsFound() {
    ObjectStorage objects = new ObjectStorage().listingWithout(1000);
    RecordTable table = RecordTable.at(objects);
    assertThat(table.exists()).isFalse();
    table.commit(Shards.append(
        OptionalLong.empty(), Shards.write(objects.listingWithout(0), Shards.SCHEMA, 1)));
    objects.listingWithout(1000);
    objects.delete(ManifestNames.HINT);
    assertThat(new ManifestLog(objects).listed()).as("the control").isEmpty();
    assertThat(table.latest().length()).isOne();
  }
}
