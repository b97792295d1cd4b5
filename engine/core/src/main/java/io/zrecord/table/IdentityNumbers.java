package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Hands out numbers of an identity, each once. Reserves blocks of them as they are needed, mostly
 * each by a commit ({@link RecordTable#reserve}). What is left of a block is a gap. Belongs to one
 * thread.
 */
public final class IdentityNumbers {
  /** Reserves numbers, which nobody else gets. Thread-safe. */
  @FunctionalInterface
  public interface Reservations {
    /**
     * Reserves numbers.
     *
     * @throws ValueTooLargeException if one of them would need more than 64 bits
     */
    IdentityRange reserve(Identity identity, long count);
  }

  private static final long FIRST_BLOCK = 1024;

  private static final long LARGEST_BLOCK = 1 << 20;

  /** How much larger each block of a writer is: a small write leaves a small gap. */
  private static final long GROWTH = 2;

  /** The same for one of many tasks, whose commits would wait for each other. */
  private static final long GROWTH_OF_TASKS = 32;

  /** So few tasks have the first block of a writer alone. */
  private static final int FEW_TASKS = 8;

  private static final int ATTEMPTS = 3;

  private final Reservations reservations;
  private final Identity identity;
  private final String field;
  private final long growth;
  private long blockCount;
  private @Nullable IdentityRange block;
  private long usedCount;

  private IdentityNumbers(
      Reservations reservations,
      Identity identity,
      String field,
      long growth,
      long blockCount,
      @Nullable IdentityRange block) {
    this.reservations = reservations;
    this.identity = identity;
    this.field = field;
    this.growth = growth;
    this.blockCount = blockCount;
    this.block = block;
  }

  /**
   * Makes a source of numbers whose blocks have 1,024 numbers at first, then twice as many each
   * time, at most 2²⁰.
   *
   * @param reservations mostly those of a table, {@code table::reserve}
   * @param field name of the field, for messages
   */
  public static IdentityNumbers of(Reservations reservations, Identity identity, String field) {
    return new IdentityNumbers(reservations, identity, field, GROWTH, FIRST_BLOCK, null);
  }

  /**
   * Returns how many numbers to reserve for each of some tasks, by one commit for all of them:
   * 1,024, and more if there are many tasks, at most 32,768. The more tasks there are, the more
   * commits of tasks wait for each other, and the less a gap of each task matters.
   */
  public static long firstBlock(int tasks) {
    return FIRST_BLOCK * Math.min(GROWTH_OF_TASKS, Math.max(1, tasks / FEW_TASKS));
  }

  /**
   * Makes a source of numbers for one of many tasks that write at once. Each further block is 32
   * times as large as the one before, at most 2²⁰, so that the tasks make few commits together.
   *
   * @param field name of the field, for messages
   * @param first numbers that nobody else uses, reserved for the tasks together; empty to reserve
   *     the first block as well
   */
  public static IdentityNumbers ofTask(
      RecordTable table, Identity identity, String field, Optional<IdentityRange> first) {
    return new IdentityNumbers(
        table::reserve,
        identity,
        field,
        GROWTH_OF_TASKS,
        first.map(range -> following(range.count(), GROWTH_OF_TASKS)).orElse(FIRST_BLOCK),
        first.orElse(null));
  }

  /**
   * Returns a number that no other record has.
   *
   * @throws CommitConflictException if the table does not have the identity any more
   * @throws ValueTooLargeException if the identity has no number left
   * @throws StorageException if numbers cannot be reserved
   */
  public long next() {
    IdentityRange range = block;
    if (range == null || usedCount == range.count()) {
      range = reserve();
      block = range;
      usedCount = 0;
    }
    return range.valueAt(usedCount++);
  }

  private static long following(long blockCount, long growth) {
    return Math.min(growth * blockCount, LARGEST_BLOCK);
  }

  /** Reserves a block, or a smaller one if the numbers come to their end. */
  private IdentityRange reserve() {
    long count = blockCount;
    blockCount = following(count, growth);
    while (true) {
      try {
        return reserve(count);
      } catch (ValueTooLargeException e) {
        if (count == 1) {
          throw e;
        }
        count /= 2;
      }
    }
  }

  /** An unknown outcome is one of the reservation, not of the write: its numbers are a gap. */
  private IdentityRange reserve(long count) {
    for (int attempt = 1; ; attempt++) {
      try {
        return reservations.reserve(identity, count);
      } catch (CommitOutcomeUnknownException e) {
        if (attempt == ATTEMPTS) {
          throw new StorageException(
              e.resource(),
              "Cannot reserve " + count + " numbers of field '" + field + "' in "
                  + e.resource() + ": the storage does not say whether they are"
                  + " reserved; no record was committed, write again later",
              e);
        }
      }
    }
  }
}
