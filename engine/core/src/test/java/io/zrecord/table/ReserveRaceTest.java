package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reservations of numbers beside other commits, in every order of their calls. */
final class ReserveRaceTest {
  private static final RecordSchema SCHEMA = new RecordSchema(List.of(RecordSchema.builder()
      .field("id", ElementType.I64)
      .build()
      .fields()
      .get(0)
      .withRules(FieldRules.NONE.withNullable(false))));

  /** An empty table that numbers its records, and the numbers that were given. */
  private static final class World implements Interleavings.World {
    final MemoryStorage storage = new MemoryStorage();
    final List<Long> numbers = new ArrayList<>();
    Optional<TableSnapshot> appended = Optional.empty();

    @Nullable
    UUID sequence;

    int committed;
    int refused;

    World() {
      RecordTable table = RecordTable.at(storage);
      table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).build());
      DeclarationChange.of(table.latest()).add(Identity.always(1, 1, 1)).commit();
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    Identity identity() {
      return RecordTable.at(storage).latest().declarations().identities().get(0);
    }

    /** Keeps a range, each worker at its own time. */
    synchronized void add(IdentityRange range) {
      LongStream.range(0, range.count()).forEach(i -> numbers.add(range.valueAt(i)));
    }

    @Override
    public void check() {
      assertThat(RecordTable.at(storage).latest().version()).isEqualTo(1 + committed);
    }
  }

  private static Work<World> reserve(long count) {
    return (world, storage) -> {
      RecordTable table = RecordTable.at(storage);
      try {
        world.add(table.reserve(identity(table), count));
        world.committed++;
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  private static Identity identity(RecordTable table) {
    return table.latest().declarations().identities().get(0);
  }

  /** Gives numbers after those of the newest version, and reserves none. */
  private static Work<World> take(long count) {
    return (world, storage) ->
        world.add(identity(RecordTable.at(storage)).reserved(count).last(count));
  }

  /** Appends a record with a number that was reserved. */
  private static void append(World world, Storage storage) {
    RecordTable table = RecordTable.at(storage);
    TableSnapshot base = table.latest();
    Identity identity = base.declarations().identities().get(0);
    try {
      IdentityRange range = table.reserve(identity, 1);
      world.committed++;
      world.add(range);
      TableSnapshot after = table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
          .base(base)
          .shards(List.of(Shards.write(world.storage, SCHEMA, range.first())))
          .assigned(List.of(identity))
          .build());
      world.appended = Optional.of(after);
      world.sequence = range.sequence();
      world.committed++;
    } catch (CommitConflictException | SchemaMismatchException e) {
      world.refused++;
    }
  }

  private static Work<World> declare(boolean drops) {
    return (world, storage) -> {
      DeclarationChange change = DeclarationChange.of(RecordTable.at(storage).latest());
      try {
        (drops ? change.add(Identity.always(1, 1, 1)) : change.comment("text")).commit();
        world.committed++;
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  private static List<World> run(List<Work<World>> work) throws Exception {
    List<World> worlds = new ArrayList<>();
    Interleavings.all(() -> added(worlds), work);
    return worlds;
  }

  private static World added(List<World> worlds) {
    World world = new World();
    worlds.add(world);
    return world;
  }

  @Test
  void reservationsGiveNoNumberTwice() throws Exception {
    assertThat(run(List.of(reserve(3), reserve(2)))).isNotEmpty().allSatisfy(world -> {
      assertThat(world.refused).isZero();
      assertThat(world.numbers).containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L);
      assertThat(world.identity().next()).isEqualTo(6);
    });
  }

  /** Control: two that both read the next number give the same ones. */
  @Test
  void withoutACommitNumbersAreGivenTwice() throws Exception {
    assertThat(run(List.of(take(3), take(2))))
        .anyMatch(
            world -> world.numbers.size() > world.numbers.stream().distinct().count());
  }

  @Test
  void appendsWithReservationsBothSucceed() throws Exception {
    List<World> worlds = new ArrayList<>();
    Interleavings.some(
        1400,
        () -> added(worlds),
        List.of(ReserveRaceTest::append, ReserveRaceTest::append),
        () -> true);
    assertThat(worlds).isNotEmpty().allSatisfy(world -> {
      assertThat(world.committed).isEqualTo(4);
      assertThat(world.numbers).containsExactlyInAnyOrder(1L, 2L);
    });
  }

  @Test
  void aReservationAndAnotherDeclarationAreBothKept() throws Exception {
    assertThat(run(List.of(reserve(3), declare(false)))).isNotEmpty().allSatisfy(world -> {
      assertThat(world.committed).isEqualTo(2);
      assertThat(world.identity().next()).isEqualTo(4);
      assertThat(RecordTable.at(world.storage).latest().declarations().comment())
          .isEqualTo("text");
    });
  }

  /** The series that takes the place begins at 1 again, as the number of the append. */
  @Test
  void anAppendHasNumbersOfTheSeriesOfItsVersion() throws Exception {
    List<World> worlds = run(List.of(ReserveRaceTest::append, declare(true)));
    assertThat(worlds)
        .allMatch(world -> world.appended.isEmpty()
            || world
                .appended
                .get()
                .declarations()
                .identities()
                .get(0)
                .sequence()
                .equals(world.sequence))
        .anyMatch(world -> world.appended.isEmpty() && world.refused == 1)
        .anyMatch(world -> world.appended.isPresent() && world.refused == 1)
        .anyMatch(world -> world.appended.isPresent() && world.refused == 0);
  }
}
