package io.zrecord.internal.shard.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.shard.fetch.AskedTwice;
import org.jspecify.annotations.Nullable;

/**
 * Selects records again after damage was found in bytes of a storage that is not mapped: they may
 * have come wrong. Only if they are wrong again, whoever reads is told. Belongs to one thread.
 */
final class SecondTry {
  private final ReadContext context;
  private @Nullable Runnable selecting;

  SecondTry(ReadContext context) {
    this.context = context;
  }

  /** Forgets the selection before. */
  void begin() {
    selecting = null;
  }

  /**
   * Selects records, and once more after damage.
   *
   * @throws CorruptDataException if damage was found twice
   */
  void select(Runnable newSelecting) {
    try {
      newSelecting.run();
    } catch (CorruptDataException first) {
      if (!context.mayComeWrong()) {
        throw first;
      }
      again(newSelecting, first);
    }
  }

  private static void again(Runnable selecting, CorruptDataException first) {
    try {
      selecting.run();
    } catch (CorruptDataException second) {
      throw AskedTwice.damaged(first, second);
    }
  }

  /** Keeps how the records are selected, for damage that is found when their values are copied. */
  void keep(Runnable newSelecting) {
    if (context.mayComeWrong()) {
      selecting = newSelecting;
    }
  }

  /**
   * Selects the same records again.
   *
   * @param first the damage, which is thrown if asking again cannot help
   */
  void again(CorruptDataException first) {
    Runnable kept = selecting;
    if (kept == null) {
      throw first;
    }
    again(kept, first);
  }
}
