package io.zrecord.internal.verify;

import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchSince;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks the patch of a shard (FORMAT.md section 3.3): the file, and the values that it names.
 * Belongs to one thread.
 */
final class PatchCheck {
  private final CheckRun run;
  private final MutableFiles files;
  private final SealedShardCheck.Depth depth;
  private final ShardSummary shard;
  private final long firstIndex;

  /**
   * Prepares a check.
   *
   * @param firstIndex index of the shard's first record
   */
  PatchCheck(
      CheckRun run,
      MutableFiles files,
      SealedShardCheck.Depth depth,
      ShardSummary shard,
      long firstIndex) {
    this.run = run;
    this.files = files;
    this.depth = depth;
    this.shard = shard;
    this.firstIndex = firstIndex;
  }

  /** Opens the patch of the shard. Returns null if there is none, or if it cannot be used. */
  @Nullable
  PatchFile open() {
    PatchRef ref = shard.patch();
    if (ref == null) {
      return null;
    }
    String name = shard.fileOf(ref);
    try {
      return open(name, ref);
    } catch (ZRecordException e) {
      String path = files.pathOf(name);
      run.found(new Finding(Kind.META, path, null, firstIndex, shard.length(), FileProblem.of(e)));
      return null;
    }
  }

  /** Checks what the patch says of each field, and the values. */
  void check(PatchFile patch, RecordSchema schema, ChunkFiles chunks) {
    checkSlotsOfCommit(patch);
    int[] ordinals =
        patch.json().chunks().stream().mapToInt(shard.chunks()::indexOf).toArray();
    try (ChunkFiles renumbered = chunks.renumbered(ordinals)) {
      for (int id : patch.json().fields().keySet()) {
        check(patch, id, schema, renumbered);
      }
    }
  }

  /** Checks what the patch says of its commit, which no reader of values looks at. */
  private void checkSlotsOfCommit(PatchFile patch) {
    try {
      patch.slotsOfCommit();
    } catch (ZRecordException e) {
      run.found(Kind.META, patch.path(), FileProblem.of(e));
    }
  }

  private PatchFile open(String name, PatchRef ref) {
    try (FileWindow window = new FileWindow(files.open(name, false))) {
      if (window.lengthBytes() != ref.bytes()) {
        run.found(
            Kind.META,
            window.path(),
            "it has " + window.lengthBytes() + " bytes, but the manifest says " + ref.bytes());
      }
      byte[] bytes = ShardTables.read(window, 0, Math.toIntExact(ref.bytes()));
      ShardTables.requireTrailer(window.path(), bytes);
      PatchFile patch = PatchFile.open(window.path(), bytes, shard, ref);
      try {
        checkGaps(patch, bytes);
      } catch (ZRecordException e) {
        // What is wrong with a field is found when the field is checked.
      }
      return patch;
    }
  }

  /** Checks that sections do not overlap and that all bytes beside them are zero. */
  private void checkGaps(PatchFile patch, byte[] bytes) {
    BitSet used = new BitSet();
    used.set(0, FileHeader.BYTES);
    used.set((int) patch.json().position(), bytes.length);
    boolean overlaps = !use(used, patch.json().deleted().section());
    overlaps |= !useSince(used, patch.json().since());
    for (int id : patch.json().fields().keySet()) {
      PatchField field = patch.json().field(id);
      overlaps |= !use(used, field.slots().section());
      overlaps |= !use(used, field.entries());
      overlaps |= !use(used, field.statistics());
      for (long unit = 0; unit < EntryUnits.unitCount(field.count()); unit++) {
        int end = (int) field.entries().position()
            + (int) EntryUnits.unitAt(unit)
            + EntryUnits.paddedBytes(EntryUnits.unitSlots(unit, field.count()));
        int zeros = EntryUnits.paddedBytes(EntryUnits.unitSlots(unit, field.count()))
            - EntryUnits.unitBytes(unit, field.count())
            - Integer.BYTES;
        used.clear(end - zeros, end);
      }
    }
    if (overlaps) {
      run.found(Kind.META, patch.path(), "two of its sections overlap");
    }
    for (int at = used.nextClearBit(0); at < bytes.length; at = used.nextClearBit(at + 1)) {
      if (bytes[at] != 0) {
        run.found(Kind.META, patch.path(), "byte " + at + " is between two sections, but not zero");
        return;
      }
    }
  }

  private static boolean useSince(BitSet used, Optional<PatchSince> since) {
    boolean isFree = true;
    for (PatchSince said : since.stream().toList()) {
      isFree = use(used, said.deleted().section());
      for (SlotSet slots : said.fields().values()) {
        isFree &= use(used, slots.section());
      }
    }
    return isFree;
  }

  /** Marks the bytes of a section. Returns false if another section has one of them. */
  private static boolean use(BitSet used, Section section) {
    int from = (int) section.position();
    int to = (int) section.end();
    boolean isFree =
        !section.isPresent() || used.nextSetBit(from) < 0 || used.nextSetBit(from) >= to;
    used.set(from, to);
    return isFree;
  }

  private void check(PatchFile patch, int id, RecordSchema schema, ChunkFiles chunks) {
    Optional<FieldSpec> named = schema.find(id);
    String name = named.map(FieldSpec::name).orElse("field " + id);
    try {
      PatchField field = patch.json().field(id);
      ChangedField changed = patch.changed(field);
      if (named.isPresent()
          && (!Promotions.allows(field.type(), named.get().type())
              || !named.get().shape().equals(field.shape()))) {
        run.found(
            Kind.META,
            patch.path(),
            name,
            "it is " + field.type() + field.shape() + " here, but the manifest says "
                + named.get().type() + named.get().shape());
      }
      if (field.absentCount() > 0
          && named.filter(spec -> !spec.rules().isNullable()).isPresent()) {
        run.found(
            Kind.COUNT,
            patch.path(),
            name,
            "it has " + field.absentCount() + " absent values, but the manifest says that none is"
                + " absent");
      }
      checkDeleted(patch, name, changed.slots());
      if (depth == SealedShardCheck.Depth.VALUES) {
        FieldSpec spec = new FieldSpec(id, name, field.type(), field.shape(), field.compression());
        checkValues(patch, field, spec, changed, chunks);
      }
    } catch (ZRecordException e) {
      run.found(Kind.ENTRY_FILE, patch.path(), name, FileProblem.of(e));
    } catch (IllegalArgumentException | ArithmeticException e) {
      run.found(Kind.META, patch.path(), name, "it is invalid: " + e.getMessage());
    }
  }

  private void checkDeleted(PatchFile patch, String name, RankedBitmap changed) {
    RankedBitmap deleted = patch.deleted();
    long[] both = deleted == null ? new long[0] : changed.slotsIf(deleted::contains);
    if (both.length > 0) {
      run.found(
          Kind.META,
          patch.path(),
          name,
          "it changes the value in slot " + both[0] + ", which is deleted");
    }
  }

  private void checkValues(
      PatchFile patch, PatchField field, FieldSpec spec, ChangedField changed, ChunkFiles chunks) {
    EntriesCheck.Amount amount = new EntriesCheck.Amount(field.absentCount(), field.valueBytes());
    RankedBitmap deleted = patch.deleted();
    EntriesCheck check = new EntriesCheck(run, spec, amount, rank -> {
      long slot = changed.slots().slotOf(rank);
      return firstIndex + slot - (deleted == null ? 0 : deleted.rank(slot));
    });
    try (ValueCheck values =
        new ValueCheck(patch.json().fileId(), spec, true, chunks, run.scratch)) {
      check.check(
          new Entries(patch.path(), field.count(), changed.values()),
          field.count(),
          EntriesCheck.Overlay.NONE,
          values);
    }
    check.compareSums(patch.path());
  }

  /** The entries of a field, whose units hold. */
  private record Entries(String path, long presentCount, EntryField field) implements EntrySource {
    @Override
    public void load(long first, int count, EntryBlock block) {
      Arrays.fill(block.isMissing, 0, count, false);
      for (int k = 0; k < count; k++) {
        block.words[2 * k] = field.word0(first + k);
        block.words[2 * k + 1] = field.word1(first + k);
        block.checksums[k] = field.storedChecksum(first + k);
      }
    }

    @Override
    public void close() {
      // The bytes are in memory.
    }
  }
}
