package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.read.FieldReader;
import io.zrecord.storage.Storage;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A row change whose outcome was unknown is committed again. */
final class RowChangeAgainTest {
  private final Storage sound = new MemoryStorage();

  /** Fails when a manifest is published, and then until it is repaired. */
  private final class Flaky extends ForwardingStorage {
    private boolean isDown;
    private final boolean publishes;

    Flaky(boolean publishes) {
      super(sound);
      this.publishes = publishes;
    }

    @Override
    public boolean publish(String name, byte[] content) {
      if (!name.startsWith("manifest/")) {
        return storage.publish(name, content);
      }
      requireUp();
      if (publishes) {
        storage.publish(name, content);
      }
      isDown = true;
      throw new CommitOutcomeUnknownException(name, "The connection was lost", null);
    }

    @Override
    public byte[] read(String name, int maxBytes) {
      requireUp();
      return storage.read(name, maxBytes);
    }

    private void requireUp() {
      if (isDown) {
        throw new StorageException(location(), "The connection was lost");
      }
    }
  }

  @BeforeEach
  void create() {
    RecordTable.at(sound)
        .commit(Shards.change(
            TableChange.Kind.CREATE,
            OptionalLong.empty(),
            Shards.SCHEMA,
            List.of(Shards.write(sound, Shards.SCHEMA, 1, 2, 3, 4))));
  }

  private RowChange unknown(boolean isPublished) {
    RowChange change = RowChange.of(RecordTable.at(sound).latest());
    change.delete(0);
    change.update(1, "value", 20L);
    assertThatThrownBy(() -> change.commit(RecordTable.at(new Flaky(isPublished))))
        .isInstanceOf(CommitOutcomeUnknownException.class);
    assertThatThrownBy(() -> change.delete(2)).isInstanceOf(IllegalStateException.class);
    return change;
  }

  private List<Long> values() {
    List<Long> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(sound, RecordDataset.ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("value");
      for (long i = 0; i < dataset.length(); i++) {
        reader.select(new long[] {i}, 0, 1);
        values.add(
            ByteBuffer.wrap(reader.value(0)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
    }
    return values;
  }

  @Test
  void aChangeThatWasPublishedTakesEffectOnce() {
    RowChange change = unknown(true);
    assertThat(change.commit().version()).isEqualTo(1);
    assertThat(values()).containsExactly(20L, 3L, 4L);
    assertThatThrownBy(change::commit).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aChangeThatWasNotPublishedIsPublished() {
    assertThat(unknown(false).commit().version()).isEqualTo(1);
    assertThat(values()).containsExactly(20L, 3L, 4L);
  }

  /** What another commit names since stays, although the change cannot be told from it. */
  @Test
  void nothingIsDeletedAfterAnUnknownOutcome() {
    RowChange published = unknown(true);
    RowChange later = RowChange.of(RecordTable.at(sound).latest());
    later.update(2, "value", 40L);
    later.commit();
    assertThat(published.commit().version()).isEqualTo(1);
    RowChange lost = unknown(false);
    RowChange winner = RowChange.of(RecordTable.at(sound).latest());
    winner.update(0, "value", 5L);
    winner.commit();
    assertThatThrownBy(lost::commit).isInstanceOf(CommitConflictException.class);
    assertThat(values()).containsExactly(5L, 3L, 40L);
  }
}
