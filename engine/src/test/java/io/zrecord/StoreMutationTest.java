package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.DamagedCopies.Original;
import io.zrecord.DamagedCopies.Outcome;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Entry;
import io.zrecord.read.Verification;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One file of a store is damaged, and the store opened and read: what was damaged is a typed
 * exception, and all that is read is as it was. Half of the stores were closed, the others copied
 * while a writer had a journal. Without verification the same shows wrong values.
 */
class StoreMutationTest {
  private static final int MUTATIONS = Math.max(100, Budget.of(1_000));

  /** One in 13 shows a wrong value: none does with a probability of 1e-14. */
  private static final int MUTATIONS_OF_THE_CONTROL = 400;

  private static final long SEED = Budget.seed();
  private static final int LENGTH = 150;
  private static final int OPERATIONS = 600;
  private static final int GROUPS = 12;
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withDurability(StoreDurability.COMMIT).withChunkBytes(1 << 16);

  @TempDir(factory = DirectoryInMemory.class)
  private static Path directory;

  private static List<Original> originals;
  private static @Nullable DamagedCopies verified;
  private static @Nullable DamagedCopies unverified;

  @BeforeAll
  static void write() throws IOException {
    Path path = directory.resolve("original");
    StoreModel model = new StoreModel(SEED, LENGTH);
    try (RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, OPTIONS)) {
      while (model.operationCount() < OPERATIONS) {
        model.next(store);
      }
    }
    originals = new ArrayList<>();
    originals.add(Original.of(path, List.of(model.records()), "journal"));
    List<List<byte[] @Nullable []>> states = new ArrayList<>();
    states.add(model.records());
    Random random = new Random(SEED);
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      for (int group = 0; group < GROUPS; group++) {
        for (int i = random.nextInt(40); i >= 0; i--) {
          model.next(store);
        }
        store.commit();
        states.add(model.records());
      }
      originals.add(Original.of(path, states, "journal"));
    }
  }

  /** Returns one run for several tests. */
  private static synchronized DamagedCopies verified() throws Exception {
    if (verified == null) {
      verified = damage(MUTATIONS, Verification.FIRST);
    }
    return verified;
  }

  private static synchronized DamagedCopies unverified() throws Exception {
    if (unverified == null) {
      unverified = damage(MUTATIONS_OF_THE_CONTROL, Verification.NEVER);
    }
    return unverified;
  }

  private static DamagedCopies damage(int copies, Verification verification) throws Exception {
    StoreOptions options = OPTIONS.withVerification(verification);
    DamagedCopies damaged = new DamagedCopies(
            directory, SEED, StoreModel.SCHEMA, copy -> open(copy, options))
        .run(copies, originals);
    System.out.println("Store, verification " + verification + ": " + damaged);
    return damaged;
  }

  private static DamagedReading.Records open(Path copy, StoreOptions options) {
    RecordStore store = RecordStore.open(copy, options);
    return new DamagedReading.Records() {
      @Override
      public long length() {
        return store.length();
      }

      @Override
      public Batch gather(long[] indices, String... fields) {
        return store.gather(indices, fields);
      }

      @Override
      public void close() {
        store.close();
      }
    };
  }

  @Test
  void whatIsReadIsAsItWas() throws Exception {
    DamagedCopies damaged = verified();
    assertThat(damaged.failures(Outcome.WRONG)).isEmpty();
    assertThat(damaged.failures(Outcome.GREEDY)).isEmpty();
    assertThat(damaged.failures(Outcome.HANGING)).isEmpty();
    assertThat(damaged.count(Outcome.REFUSED)).isPositive();
  }

  @Test
  void whatIsDamagedIsATypedException() throws Exception {
    assertThat(verified().failures(Outcome.UNTYPED)).isEmpty();
  }

  @Test
  void everyFlippedBitOfAnEntryIsFound() throws Exception {
    Path copy = directory.resolve("flipped");
    Original original = originals.get(0);
    int record = 0;
    while (original.states().get(0).get(record)[0] == null) {
      record++;
    }
    long[] index = {record};
    for (int bit = 0; bit < Byte.SIZE * Entry.BYTES; bit++) {
      original.copyTo(copy);
      byte[] entries = original.files().get("id.offset").clone();
      entries[record * Entry.BYTES + bit / Byte.SIZE] ^= (byte) (1 << (bit % Byte.SIZE));
      Files.write(copy.resolve("id.offset"), entries);
      try (RecordStore store = RecordStore.open(copy, OPTIONS)) {
        assertThatThrownBy(() -> store.gather(index).bytes("id", 0))
            .as("bit %d", bit)
            .isInstanceOf(ZRecordException.class);
      }
    }
  }

  @Test
  void aJournalThatWasCutLeavesAnEarlierCommit() throws Exception {
    assertThat(verified().failures(Outcome.MIXED)).isEmpty();
  }

  @Test
  void withoutVerificationWrongValuesAreRead() throws Exception {
    assertThat(unverified().count(Outcome.WRONG)).isPositive();
  }

  @Test
  void alsoWithoutVerificationWhatCannotBeReadIsATypedException() throws Exception {
    assertThat(unverified().failures(Outcome.UNTYPED)).isEmpty();
    assertThat(unverified().failures(Outcome.GREEDY)).isEmpty();
  }
}
