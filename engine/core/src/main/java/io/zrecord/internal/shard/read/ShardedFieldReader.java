package io.zrecord.internal.shard.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.fetch.AskedTwice;
import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.layout.AbsentField;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.internal.shard.layout.PromotedField;
import io.zrecord.internal.shard.layout.StoredField;
import io.zrecord.internal.shard.layout.VariableField;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Reads a field across the shards of a dataset, whatever the field's layout in each shard. Belongs
 * to one thread.
 *
 * <p>A file that is truncated while mapped shows as an {@link InternalError} at some later moment.
 * Every method that touches maps catches the error here and says which file is too short.
 */
public final class ShardedFieldReader implements FieldReader {
  private final ReadContext context;
  private final SlotSelection slots;
  private final DenseRangeSelection dense;
  private final VariableRangeSelection variable;
  private final SecondTry secondTry;
  private Selection selection;

  /** Makes a reader. */
  public ShardedFieldReader(
      FieldSpec field, ShardList shards, Verification verification, ReadMetrics metrics) {
    this(field, shards, new Prefetched(), verification, metrics);
  }

  /**
   * Makes a reader.
   *
   * @param prefetched bytes that were asked for before
   */
  public ShardedFieldReader(
      FieldSpec field,
      ShardList shards,
      Prefetched prefetched,
      Verification verification,
      ReadMetrics metrics) {
    this(
        new ReadContext(field, ReadContext.Form.VALUES, shards, prefetched, verification, metrics));
  }

  private ShardedFieldReader(ReadContext context) {
    this.context = context;
    slots = new SlotSelection(context);
    dense = new DenseRangeSelection(context);
    variable = new VariableRangeSelection(context);
    selection = slots;
    secondTry = new SecondTry(context);
  }

  /**
   * Returns a reader of values in tables, whatever patches say. Indices are slots, and the lengths
   * of the shards numbers of slots.
   */
  static ShardedFieldReader ofTables(
      FieldSpec field,
      ShardList shards,
      Prefetched prefetched,
      Verification verification,
      ReadMetrics metrics) {
    return new ShardedFieldReader(
        new ReadContext(field, ReadContext.Form.TABLES, shards, prefetched, verification, metrics));
  }

  /**
   * Returns a reader of the stored bytes of a compressed field, prefixes included, without
   * decoding.
   *
   * @return empty unless the field has this compression and checksums in every shard
   */
  public static Optional<FieldReader> ofStored(
      FieldSpec field,
      Compression compression,
      ShardList shards,
      Verification verification,
      ReadMetrics metrics) {
    boolean isStored = compression.codec() != Codec.RAW;
    for (int shard = 0; shard < shards.count() && isStored; shard++) {
      OpenShard open = shards.open(shard);
      isStored = open.patch() == null
          && open.hasChecksums(field.id())
          && open.tablesOf(field.id())
              .filter(tables -> tables.blockBytes() == 0
                  && tables.compression().equals(compression)
                  && tables.type().widthBytes().equals(field.type().widthBytes()))
              .isPresent();
    }
    return isStored
        ? Optional.of(new ShardedFieldReader(new ReadContext(
            field, ReadContext.Form.STORED, shards, new Prefetched(), verification, metrics)))
        : Optional.empty();
  }

  @Override
  public FieldSpec field() {
    return context.spec();
  }

  @Override
  public int selectRange(long firstIndex, int maxCount, long maxBytes) {
    if (maxCount <= 0) {
      throw new IllegalArgumentException(
          "At most " + maxCount + " records were asked for; ask for at least one");
    }
    ShardList shards = context.shards();
    if (firstIndex < 0 || firstIndex > shards.length() - maxCount) {
      throw shards.outOfBounds(firstIndex < 0 ? firstIndex : Math.max(firstIndex, shards.length()));
    }
    secondTry.begin();
    secondTry.select(() -> selectInOrder(firstIndex, maxCount, maxBytes));
    int taken = selection.count();
    secondTry.keep(() -> selectInOrder(firstIndex, taken, Long.MAX_VALUE));
    return taken;
  }

  private void selectInOrder(long firstIndex, int maxCount, long maxBytes) {
    clear();
    context.table().setReadInOrder(true);
    try {
      selectWithin(firstIndex, maxCount, maxBytes);
    } catch (InternalError e) {
      throw context.truncated(e);
    }
  }

  /** Drops the selection, so that any failure from now on leaves none. */
  private void clear() {
    slots.clear();
    dense.clear();
    variable.clear();
    selection = slots;
    context.check().tables().begin();
    context.trim();
  }

  private void selectWithin(long firstIndex, int maxCount, long maxBytes) {
    try {
      int shard = context.shards().shardOf(firstIndex);
      context.isRemote(shard);
      ShardPart part = context.part(shard);
      if (variable.takes(part)) {
        variable.selectRange(firstIndex, maxCount, maxBytes);
        selection = variable;
        return;
      }
      if (dense.takes(part)) {
        dense.selectRange(firstIndex, maxCount, maxBytes);
        selection = dense;
        return;
      }
      int taken = countWithin(firstIndex, maxCount, maxBytes);
      slots.selectRange(firstIndex, taken);
    } finally {
      // Also before an exception is passed on: missing bytes look like damage.
      MapFaults.surface();
    }
  }

  /**
   * Returns how many records from the first on have at most {@code maxBytes} stored bytes; at least
   * one.
   */
  private int countWithin(long firstIndex, int maxCount, long maxBytes) {
    ShardList shards = context.shards();
    int fixedWidth = Math.max(0, context.fixedWidth());
    long bytes = 0;
    int taken = 0;
    while (taken < maxCount) {
      int shard = shards.shardOf(firstIndex + taken);
      int end = (int) Math.min(maxCount, shards.firstIndex(shard + 1) - firstIndex);
      long low = shards.firstIndex(shard);
      ShardPart part = context.part(shard);
      ShardPatch patch = part.patch();
      while (taken < end) {
        int count = 1;
        long size = fixedWidth;
        long slot = firstIndex + taken - low;
        OpenField field = part.field();
        if (patch != null) {
          slot = patch.slotOf(slot);
          ChangedField changed = patch.changed();
          if (changed != null && changed.slots().contains(slot)) {
            slot = changed.slots().rank(slot);
            field = changed.values();
          }
        }
        if (field instanceof StoredField stored) {
          size = lengthOf(stored, slot);
        } else if (field instanceof BlockField blocks && fixedWidth == 0) {
          // Whole blocks, so that each is decoded once.
          context.blocks().find(blocks, slot);
          count =
              patch != null ? 1 : (int) Math.min(end - taken, context.blocks().endSlot() - slot);
          size = context.blocks().rawBytes(count);
        } else if (field instanceof PromotedField promoted && fixedWidth == 0) {
          size = slots.promotedLength(promoted, shard, slot);
        } else if (field instanceof AbsentField) {
          size = Math.max(fixedWidth, context.initial().length);
        }
        if (bytes + size > maxBytes) {
          return taken > 0
              ? taken
              : (int) Math.max(1, count * Math.max(0, maxBytes) / Math.max(1, size));
        }
        bytes += size;
        taken += count;
      }
    }
    return taken;
  }

  private long lengthOf(StoredField field, long slot) {
    if (field instanceof VariableField variableField) {
      int run = variableField.runOf(slot);
      context.check().tables().block(variableField, run, slot);
      return variableField.end(run, slot) - variableField.start(run, slot);
    }
    EntryField entries = (EntryField) field;
    context.check().tables().entryUnit(entries, EntryUnits.unitOf(slot));
    return Entry.physicalLength(entries.word1(slot)) & 0xffff_ffffL;
  }

  @Override
  public void select(long[] indices, int from, int count) {
    Objects.checkFromIndexSize(from, count, indices.length);
    secondTry.begin();
    secondTry.select(() -> selectSlots(indices, from, count));
    if (context.mayComeWrong()) {
      long[] own = Arrays.copyOfRange(indices, from, from + count);
      secondTry.keep(() -> selectSlots(own, 0, count));
    }
  }

  private void selectSlots(long[] indices, int from, int count) {
    clear();
    context.table().setReadInOrder(false);
    try {
      try {
        slots.select(indices, from, count);
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw context.truncated(e);
    }
  }

  /**
   * Asks for the bytes of records that will be selected, and returns at once, where files are not
   * mapped. The tables of the records are read.
   *
   * @param asked takes the ranges that were asked for, which the caller drops, also after a failure
   */
  public void prefetch(long[] indices, List<Prefetched.Range> asked) {
    secondTry.begin();
    secondTry.select(() -> {
      clear();
      slots.ask(indices, asked);
    });
  }

  @Override
  public int count() {
    return selection.count();
  }

  @Override
  public boolean hasAbsent() {
    return selection.hasAbsent();
  }

  @Override
  public boolean isAbsent(int i) {
    return selection.isAbsent(checked(i));
  }

  @Override
  public int lengthBytes(int i) {
    return selection.lengthBytes(checked(i));
  }

  @Override
  public long totalLengthBytes() {
    return selection.totalLengthBytes();
  }

  @Override
  public byte[] value(int i) {
    byte[] value = new byte[lengthBytes(i)];
    copyValue(i, value, 0);
    return value;
  }

  @Override
  public int copyValue(int i, byte[] destination, int offset) {
    Objects.checkFromIndexSize(offset, lengthBytes(i), destination.length);
    try {
      return copyOnce(i, destination, offset);
    } catch (CorruptDataException first) {
      secondTry.again(first);
      try {
        return copyOnce(i, destination, offset);
      } catch (CorruptDataException second) {
        throw AskedTwice.damaged(first, second);
      }
    }
  }

  private int copyOnce(int i, byte[] destination, int offset) {
    try {
      try {
        return selection.copy(i, destination, offset);
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw context.truncated(e);
    }
  }

  @Override
  public void copyAll(byte[] destination, int offset) {
    Objects.checkFromIndexSize(offset, totalLengthBytes(), (long) destination.length);
    copyAll(ByteBuffer.wrap(destination), offset);
  }

  @Override
  public void copyAll(ByteBuffer destination) {
    long total = totalLengthBytes();
    if (total > destination.remaining()) {
      throw new BufferOverflowException();
    }
    copyAll(destination, destination.position());
    destination.position(destination.position() + (int) total);
  }

  private void copyAll(ByteBuffer destination, int at) {
    try {
      copyAllOnce(destination, at);
    } catch (CorruptDataException first) {
      secondTry.again(first);
      try {
        copyAllOnce(destination, at);
      } catch (CorruptDataException second) {
        throw AskedTwice.damaged(first, second);
      }
    }
  }

  private void copyAllOnce(ByteBuffer destination, int at) {
    try {
      try {
        selection.copyAll(destination, at);
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw context.truncated(e);
    }
  }

  @Override
  public ByteBuffer view(int i) {
    try {
      return viewOnce(i);
    } catch (CorruptDataException first) {
      secondTry.again(first);
      try {
        return viewOnce(i);
      } catch (CorruptDataException second) {
        throw AskedTwice.damaged(first, second);
      }
    }
  }

  private ByteBuffer viewOnce(int i) {
    boolean ofTheMap = false;
    try {
      try {
        ByteBuffer view = selection.view(checked(i));
        // Nothing was read so far, or the checksum was right.
        ofTheMap = view.isDirect();
        return view;
      } finally {
        if (!ofTheMap) {
          MapFaults.surface();
        }
      }
    } catch (InternalError e) {
      throw context.truncated(e);
    }
  }

  private int checked(int i) {
    return Objects.checkIndex(i, selection.count());
  }
}
