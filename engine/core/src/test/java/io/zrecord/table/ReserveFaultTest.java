package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A reservation whose storage fails at each of its calls, in every way, or loses its power. What
 * was acknowledged is given to nobody else.
 */
final class ReserveFaultTest {
  private static final RecordSchema SCHEMA = new RecordSchema(
      List.of(Shards.SCHEMA.fields().get(0).withRules(FieldRules.NONE.withNullable(false))));
  private static final int COUNT = 5;

  private final MemoryStorage storage = Simulation.storage();

  private static Identity declare(MemoryStorage storage) {
    RecordTable table = RecordTable.at(storage);
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).build());
    return DeclarationChange.of(table.latest())
        .add(Identity.always(1, 1, 1))
        .commit()
        .declarations()
        .identities()
        .get(0);
  }

  private static Optional<IdentityRange> reserve(RecordTable table, Identity identity) {
    try {
      return Optional.of(table.reserve(identity, COUNT));
    } catch (ZRecordException e) {
      return Optional.empty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void noNumberOfAReservationThatFailedOrSucceededIsGivenAgain(FaultyStorage.Fault fault) {
    Identity identity = declare(storage);
    long least = 1;
    int failures = 0;
    for (int failing : new int[] {1, 1000}) {
      int call = 0;
      FaultyStorage faulty;
      do {
        faulty = new FaultyStorage(storage, fault, call, failing);
        Optional<IdentityRange> range = reserve(RecordTable.at(faulty), identity);
        failures += range.isEmpty() ? 1 : 0;
        if (range.isPresent()) {
          assertThat(range.get().first()).isGreaterThanOrEqualTo(least);
          least = range.get().valueAt(COUNT - 1) + 1;
        }
        faulty.landDelayed();
        IdentityRange after = RecordTable.at(storage).reserve(identity, COUNT);
        assertThat(after.first())
            .as("%s at call %s, %s calls, after %s", fault, call, failing, range)
            .isGreaterThanOrEqualTo(least);
        least = after.valueAt(COUNT - 1) + 1;
        call++;
      } while (faulty.calls() >= call);
    }
    assertThat(failures).isGreaterThan(3);
  }

  /** Publishes without forcing the name, and does not tell whether that succeeded. */
  private static final class Unclear extends ForwardingStorage {
    private final MemoryStorage memory;
    private final boolean forces;

    Unclear(MemoryStorage memory, boolean forces) {
      super(memory);
      this.memory = memory;
      this.forces = forces;
    }

    @Override
    public boolean publish(String name, byte[] content) {
      if (memory.exists(name)) {
        return false;
      }
      memory.overwrite(name, content);
      throw new CommitOutcomeUnknownException(pathOf(name), "nobody knows about " + name);
    }

    @Override
    public void forceDirectory(String directory) {
      if (forces) {
        super.forceDirectory(directory);
      }
    }
  }

  /** Returns how often a power loss after a call let numbers be given twice. */
  private static int givenTwice(boolean forces) {
    int twice = 0;
    boolean isCut = true;
    int calls = 0;
    for (; isCut; calls++) {
      MemoryStorage memory = Simulation.storage();
      Identity identity = declare(memory);
      memory.failingFrom(memory.log().size() + calls, Integer.MAX_VALUE);
      Optional<IdentityRange> range = Optional.empty();
      try {
        range = Optional.of(RecordTable.at(new Unclear(memory, forces)).reserve(identity, COUNT));
        isCut = false;
      } catch (ZRecordException e) {
        // The power is lost now.
      }
      IdentityRange after = RecordTable.at(memory.afterPowerLoss()).reserve(identity, COUNT);
      twice += range.isPresent() && after.first() < range.get().valueAt(COUNT - 1) ? 1 : 0;
    }
    assertThat(calls).isGreaterThanOrEqualTo(forces ? 2 : 1);
    return twice;
  }

  @Test
  void aPowerLossTakesNoReservationBack() {
    assertThat(givenTwice(true)).isZero();
  }

  /** Control: an acknowledged reservation is lost, and its numbers are given again. */
  @Test
  void withoutForcedDirectoriesNumbersAreGivenTwice() {
    assertThat(givenTwice(false)).isPositive();
  }

  @Test
  void aReservationThatCannotBePublishedReservesNothing() {
    Identity identity = declare(storage);
    assertThat(reserve(
            RecordTable.at(new FaultyStorage(storage, FaultyStorage.Fault.BEFORE, 0, 1000)),
            identity))
        .isEmpty();
    assertThat(RecordTable.at(storage).reserve(identity, 1).first()).isEqualTo(1);
  }
}
