package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A change of declarations beside other commits, in every order of their calls. */
final class DeclareRaceTest {
  private static final Constraint POSITIVE = Constraint.check("positive", "value >= 0", List.of(1));

  /** A table of one shard, and what others have done to it. */
  private static final class World implements Interleavings.World {
    final MemoryStorage storage = new MemoryStorage();
    int declared;
    int appended;
    int refused;

    World() {
      RecordTable.at(storage)
          .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1)));
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    Declarations declarations() {
      return RecordTable.at(storage).latest().declarations();
    }

    @Override
    public void check() {
      TableSnapshot latest = RecordTable.at(storage).latest();
      assertThat(latest.length()).isEqualTo(1 + appended);
      assertThat(latest.version()).isEqualTo(declared + appended);
    }
  }

  private static Work<World> declare(UnaryOperator<DeclarationChange> change) {
    return (world, storage) -> {
      try {
        change.apply(DeclarationChange.of(RecordTable.at(storage).latest())).commit();
        world.declared++;
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  /** Appends a record without evaluating a check. */
  private static void append(World world, Storage storage) {
    RecordTable table = RecordTable.at(storage);
    OptionalLong base = OptionalLong.of(table.latest().version());
    try {
      table.commit(Shards.append(base, Shards.write(storage, Shards.SCHEMA, -1)));
      world.appended++;
    } catch (SchemaMismatchException e) {
      world.refused++;
    }
  }

  private static List<World> run(List<Work<World>> work) throws Exception {
    return Interleavings.ended(World::new, work);
  }

  @Test
  void changesOfTwoKeysAreBothKept() throws Exception {
    List<World> worlds =
        run(List.of(declare(one -> one.set("a", "1")), declare(other -> other.set("b", "2"))));
    assertThat(worlds).isNotEmpty().allSatisfy(world -> {
      assertThat(world.declared).isEqualTo(2);
      assertThat(world.declarations().properties()).containsOnlyKeys("a", "b");
    });
  }

  @Test
  void ofTwoChangesOfAKeyOneIsRefusedUnlessItComesLater() throws Exception {
    List<World> worlds =
        run(List.of(declare(one -> one.set("a", "1")), declare(other -> other.set("a", "2"))));
    assertThat(worlds).allMatch(world -> world.declared + world.refused == 2);
    assertThat(worlds).anyMatch(world -> world.refused == 1).anyMatch(world -> world.refused == 0);
  }

  @Test
  void aChangeAndAnAppendBothSucceed() throws Exception {
    List<World> worlds = run(List.of(declare(one -> one.comment("text")), DeclareRaceTest::append));
    assertThat(worlds).isNotEmpty().allSatisfy(world -> {
      assertThat(world.declared + world.appended).isEqualTo(2);
      assertThat(world.declarations().comment()).isEqualTo("text");
    });
  }

  /** An append after the check is refused; a check that was planned before the append is. */
  @Test
  void noRecordComesBesideACheckThatNobodyEvaluated() throws Exception {
    List<World> worlds = run(List.of(declare(one -> one.add(POSITIVE)), DeclareRaceTest::append));
    assertThat(worlds).allMatch(world -> world.declared + world.appended + world.refused == 2);
    assertThat(worlds)
        .anyMatch(world -> world.declared == 1 && world.appended == 0)
        .anyMatch(world -> world.declared == 0 && world.appended == 1)
        .anyMatch(world -> world.declared == 1 && world.appended == 1);
  }
}
