package io.zrecord.internal.shard.layout;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchJson;
import io.zrecord.internal.format.PatchSince;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.shard.file.ShardFiles;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.util.Arrays;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a shard that a patch deletes, and those that its commit changed. Reads no entry of a
 * value, and of a large patch its parts only: what a commit changed stands before the JSON at the
 * end. Immutable.
 *
 * @param deleted the slots that are deleted; null if none is
 * @param ofCommit the slots that the commit of the patch changed; empty if the patch does not say
 */
public record PatchSlots(@Nullable RankedBitmap deleted, Optional<SlotsOfCommit> ofCommit) {
  /** Longest patch that is read whole: one answer comes sooner than two. */
  private static final int MOST_WHOLE_BYTES = 64 << 10;

  /** Bytes that are read at the beginning of a larger patch. */
  private static final int HEAD_BYTES = 4 << 10;

  /** Bytes that are read before the JSON. */
  private static final int BEFORE_JSON_BYTES = 4 << 10;

  /**
   * Reads the slots.
   *
   * @throws io.zrecord.errors.MissingFileException if there is no file
   * @throws io.zrecord.errors.TruncatedFileException if the file is shorter than the manifest says
   * @throws CorruptDataException if what is read is damaged, or not what the manifest says
   * @throws io.zrecord.errors.UnsupportedFormatException if the patch uses an unknown feature
   */
  public static PatchSlots read(Storage storage, ShardSummary shard, PatchRef ref) {
    try (ReadableFile file = ShardFiles.open(storage, shard.fileOf(ref), ref.bytes())) {
      PatchFile.requireLength(file, ref);
      return new Parts(file, shard, ref).slots();
    }
  }

  /** Parts of the file. */
  private static final class Parts {
    private final ReadableFile file;
    private final long tailAt;
    private final byte[] tail;
    private final byte[] head;
    private final ShardSummary shard;
    private final PatchJson json;

    Parts(ReadableFile file, ShardSummary shard, PatchRef ref) {
      this.file = file;
      this.shard = shard;
      this.tailAt =
          ref.bytes() <= MOST_WHOLE_BYTES ? 0 : Math.max(0, ref.jsonPosition() - BEFORE_JSON_BYTES);
      this.tail = region(tailAt, (int) (ref.bytes() - tailAt));
      this.head = tailAt == 0 ? tail : region(0, HEAD_BYTES);
      int at = (int) (ref.jsonPosition() - tailAt);
      this.json = PatchFile.json(
          file.path(),
          Arrays.copyOf(head, FileHeader.BYTES),
          Arrays.copyOfRange(tail, at, at + ref.jsonBytes()),
          shard,
          ref);
    }

    private byte[] region(long position, int length) {
      byte[] bytes = new byte[length];
      file.region(position, length).get(0, bytes);
      return bytes;
    }

    PatchSlots slots() {
      RankedBitmap deleted = slots(json.deleted(), Kind.DELETED, 0);
      PatchFile.requireLive(file.path(), json, deleted, shard.length());
      return new PatchSlots(deleted, json.since().map(since -> ofCommit(since, deleted)));
    }

    private SlotsOfCommit ofCommit(PatchSince since, @Nullable RankedBitmap deleted) {
      SortedMap<Integer, RankedBitmap> fields = new TreeMap<>();
      if (since.patch().isEmpty()) {
        for (int id : json.fields().keySet()) {
          fields.put(id, present(json.field(id).slots(), Kind.CHANGED, id));
        }
        return new SlotsOfCommit(Optional.empty(), deleted, fields);
      }
      RankedBitmap gone = slots(since.deleted(), Kind.DELETED_SINCE, 0);
      PatchFile.requireAmong(file.path(), gone, deleted);
      since.fields().forEach((id, set) -> {
        RankedBitmap slots = present(set, Kind.CHANGED_SINCE, id);
        RankedBitmap all =
            json.hasField(id) ? present(json.field(id).slots(), Kind.CHANGED, id) : null;
        PatchFile.requireAmong(file.path(), slots, all);
        fields.put(id, slots);
      });
      return new SlotsOfCommit(since.patch(), gone, fields);
    }

    private @Nullable RankedBitmap slots(SlotSet set, Kind kind, int fieldId) {
      return set.isPresent() ? present(set, kind, fieldId) : null;
    }

    private RankedBitmap present(SlotSet set, Kind kind, int fieldId) {
      Section section = set.section();
      long end = section.position() + section.bytes();
      byte[] bytes;
      long at;
      if (section.position() >= tailAt) {
        bytes = tail;
        at = section.position() - tailAt;
      } else if (end <= head.length) {
        bytes = head;
        at = section.position();
      } else {
        bytes = region(section.position(), (int) section.bytes());
        at = 0;
      }
      Binding binding = new Binding(json.fileId(), fieldId);
      return PatchFile.slots(file.path(), json, set, binding, kind, bytes, (int) at);
    }
  }
}
