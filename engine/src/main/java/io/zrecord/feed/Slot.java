package io.zrecord.feed;

import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Room for one batch, which goes round: from a loader to the consumer and back. Belongs to whoever has it. */
final class Slot {
  private final List<FieldBlock> blocks = new ArrayList<>();
  private final long[] indices;
  private Place place = new Place(0, 0, 0, 0);
  private @Nullable Throwable failure;

  /**
   * Which batch it is.
   *
   * @param number of the batch, from the first one that the feed delivers
   * @param epoch of the sampler
   * @param position of the batch's first record in the epoch
   * @param count records
   */
  record Place(long number, long epoch, long position, int count) {}

  Slot(List<FieldSpec> fields, int batchSize) {
    fields.forEach(field -> blocks.add(new FieldBlock(field)));
    indices = new long[batchSize];
  }

  void begin(Place newPlace) {
    place = newPlace;
    failure = null;
  }

  void fail(Throwable newFailure) {
    failure = newFailure;
  }

  @Nullable
  Throwable failure() {
    return failure;
  }

  Place place() {
    return place;
  }

  List<FieldBlock> blocks() {
    return blocks;
  }

  long[] indices() {
    return indices;
  }

  long lengthBytes() {
    return blocks.stream().mapToLong(FieldBlock::lengthBytes).sum();
  }
}
