package io.zrecord.warehouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * What two programs do to a namespace: the second does all of its work before a call of the first.
 */
final class NamespaceRaceTest {
  private static final Namespace SPACE = Namespace.of("space");

  private final Map<String, MemoryStorage> tables = new HashMap<>();
  private MemoryStorage files = new MemoryStorage(Instant::now);

  /** Does something before a call of a program. */
  private static final class Interrupted extends ForwardingStorage {
    private final AtomicInteger calls;
    private final int when;
    private final Runnable what;

    Interrupted(Storage storage, AtomicInteger calls, int when, Runnable what) {
      super(storage);
      this.calls = calls;
      this.when = when;
      this.what = what;
    }

    private void call() {
      if (calls.getAndIncrement() == when) {
        what.run();
      }
    }

    @Override
    public List<StoredFile> list(String directory) {
      call();
      return super.list(directory);
    }

    @Override
    public byte[] read(String name, int maxBytes) {
      call();
      return super.read(name, maxBytes);
    }

    @Override
    public boolean publish(String name, byte[] content) {
      call();
      return super.publish(name, content);
    }
  }

  private Warehouse lake(Storage root) {
    return Warehouse.of(
        root, path -> tables.computeIfAbsent(path, p -> new MemoryStorage(Instant::now)));
  }

  /** Runs the first program with the second before each of its calls, and after it. */
  private void inEveryOrder(
      Consumer<Warehouse> before,
      BiConsumer<Warehouse, Map<String, Boolean>> first,
      BiConsumer<Warehouse, Map<String, Boolean>> second,
      BiConsumer<Warehouse, Map<String, Boolean>> check) {
    int orders = 0;
    for (int when = 0; ; when++) {
      tables.clear();
      files = new MemoryStorage(Instant::now);
      Warehouse lake = lake(files);
      before.accept(lake);
      Map<String, Boolean> said = new TreeMap<>();
      AtomicInteger calls = new AtomicInteger();
      first.accept(
          lake(new Interrupted(files, calls, when, () -> second.accept(lake, said))), said);
      boolean isLast = calls.get() <= when;
      if (isLast) {
        second.accept(lake, said);
      }
      check.accept(lake, said);
      orders++;
      if (isLast) {
        break;
      }
    }
    assertThat(orders).isGreaterThan(3);
  }

  @Test
  void oneOfTwoCreatesANamespace() {
    inEveryOrder(
        lake -> {},
        (lake, said) -> said.put("a", lake.create(SPACE, Map.of("by", "a"))),
        (lake, said) -> said.put("b", lake.create(SPACE, Map.of("by", "b"))),
        (lake, said) -> {
          assertThat(said.values()).containsExactlyInAnyOrder(true, false);
          String winner = said.get("a") ? "a" : "b";
          assertThat(lake.find(SPACE).orElseThrow()).isEqualTo(Map.of("by", winner));
        });
  }

  @Test
  void changesOfTwoAreBothKept() {
    inEveryOrder(
        lake -> lake.create(SPACE, Map.of("old", "1")),
        (lake, said) -> said.put("a", lake.alter(SPACE, Map.of("a", "1"))),
        (lake, said) -> said.put("b", lake.alter(SPACE, Map.of("b", "1"))),
        (lake, said) -> assertThat(lake.find(SPACE).orElseThrow())
            .isEqualTo(Map.of("old", "1", "a", "1", "b", "1")));
  }

  @Test
  void aChangeBringsNoDroppedNamespaceBack() {
    BiConsumer<Warehouse, Map<String, Boolean>> change =
        (lake, said) -> said.put("changed", lake.alter(SPACE, Map.of("a", "1")));
    BiConsumer<Warehouse, Map<String, Boolean>> drop =
        (lake, said) -> said.put("dropped", lake.drop(SPACE) == Warehouse.Drop.DROPPED);
    List<Boolean> changed = new ArrayList<>();
    BiConsumer<Warehouse, Map<String, Boolean>> check = (lake, said) -> {
      assertThat(said).containsEntry("dropped", true);
      assertThat(lake.exists(SPACE)).isFalse();
      changed.add(said.get("changed"));
    };
    inEveryOrder(lake -> lake.create(SPACE, Map.of("old", "1")), change, drop, check);
    inEveryOrder(lake -> lake.create(SPACE, Map.of("old", "1")), drop, change, check);
    assertThat(changed).contains(true, false);
  }

  @Test
  void aTableThatIsCreatedMeanwhileHasTheName() {
    inEveryOrder(
        lake -> {},
        (lake, said) -> said.put("namespace", lake.create(SPACE, Map.of())),
        (lake, said) -> RecordTable.at(lake.place(Namespace.ROOT, "space"))
            .commit(
                TableChange.of(TableChange.Kind.CREATE, RecordSchema.builder().build())
                    .build()),
        (lake, said) -> {
          assertThat(lake.exists(SPACE)).isFalse();
          assertThat(lake.hasTable(Namespace.ROOT, "space")).isTrue();
        });
  }

  @Test
  void aPublicationWhoseAnswerIsLostTakesEffectOnce() {
    for (boolean isThere : List.of(true, false)) {
      files = new MemoryStorage(Instant::now);
      AtomicInteger publications = new AtomicInteger();
      Warehouse lake = lake(new ForwardingStorage(files) {
        @Override
        public boolean publish(String name, byte[] content) {
          if (publications.getAndIncrement() == 0) {
            if (isThere) {
              super.publish(name, content);
            }
            throw new CommitOutcomeUnknownException(name, "The answer was lost");
          }
          return super.publish(name, content);
        }
      });
      assertThat(lake.create(SPACE, Map.of("a", "1"))).isTrue();
      assertThat(lake.find(SPACE).orElseThrow()).isEqualTo(Map.of("a", "1"));
      assertThat(files.names()).hasSize(1);
      assertThat(publications).hasValue(isThere ? 1 : 2);
    }
  }
}
