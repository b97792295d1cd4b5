package io.zrecord.sharing;

import io.zrecord.feed.BadBatch;
import io.zrecord.feed.BatchMemory;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.schema.FieldSpec;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the batches of a feed to another process. Values stay where loaders put them, in a file
 * that both processes map, and a stream carries one message for each batch. The other process owns
 * a batch until it sends the batch's number back, and an owned batch is not written to. The other
 * process may own as many batches as the feed is deep; then nothing is loaded until a batch comes
 * back.
 *
 * <pre>
 * message   length i32 | kind i32 | payload
 * header    kind 1, first; JSON
 * batch     kind 2; i64 words, then JSON: the state to resume with after the batch, and to the end
 *           the bad records since the batch before, or nothing if there are none
 *           number | count | epoch | earlier batches | bytes of the file
 *                  | offset of the indices (i64)
 *                  | epoch after the batch | batches left in that epoch
 *                  | bytes of the state
 *           of each field: offset of the values | their bytes
 *                          | steps of each value if padded to one length, or -1
 *                          | offset of the ends (i32), or of the lengths in bytes (i32) if
 *                            padded, or -1 if the field has one length
 *                          | offset of the marks of absent values (u8, 1 is absent), or -1
 * end       kind 3; JSON of bad records, or nothing; the last message
 * release   in the other direction: number i32, not framed
 * </pre>
 *
 * <p>Offsets are positions in the file. The file grows, so a message may contain offsets past the
 * end of the other process's map. Numbers are little-endian, except big-endian releases. One thread
 * sends.
 */
public final class SharedBatches {
  private final SharedArena arena;
  private final OutputStream out;
  private final InputStream in;
  private final AtomicReferenceArray<@Nullable FeedBatch> owned;
  private final BadRecordNotes notes = new BadRecordNotes();

  /**
   * Prepares to send.
   *
   * @param file the file for the values
   * @param depth depth of the feed
   * @param out takes the messages
   * @param in delivers the releases; its end means that the other process wants no more
   */
  public SharedBatches(SharedFile file, int depth, OutputStream out, InputStream in) {
    this.arena = new SharedArena(file);
    this.owned = new AtomicReferenceArray<>(depth);
    this.out = out;
    this.in = in;
  }

  /** Returns the memory for {@link io.zrecord.feed.FeedBuilder#memory}. */
  public BatchMemory memory() {
    return arena;
  }

  /** Returns the listener for {@link io.zrecord.feed.FeedBuilder#onBadBatch}. */
  public Consumer<BadBatch> onBadBatch() {
    return notes::add;
  }

  /**
   * Sends all batches.
   *
   * @param feed a feed with {@link #memory}, {@link #onBadBatch}, the depth, and a timeout as long
   *     as the other process may keep batches
   * @param fields the feed's fields, in the order of the messages
   * @param header JSON for the other process
   * @param onAbandoned called on another thread when the other process wants no more
   * @throws IOException if a message cannot be sent
   */
  public void send(Feed feed, List<FieldSpec> fields, String header, Runnable onAbandoned)
      throws IOException {
    Thread releases = new Thread(() -> takeReleases(onAbandoned), "zrecord-feed-releases");
    releases.setDaemon(true);
    releases.start();
    BatchMessages messages = new BatchMessages(arena, fields, owned.length());
    out.write(BatchMessages.header(header));
    while (true) {
      // The feed has as many batches as there are numbers, so a number is free whenever the feed
      // delivers a batch.
      FeedBatch batch = feed.next();
      if (batch == null) {
        break;
      }
      int number = 0;
      while (!owned.compareAndSet(number, null, batch)) {
        number++;
      }
      out.write(messages.batch(number, batch, notes.take()));
    }
    out.write(BatchMessages.end(notes.take()));
  }

  private void takeReleases(Runnable onAbandoned) {
    try {
      // Buffered: a release is one call of the system, or less, not one for each byte.
      DataInputStream numbers = new DataInputStream(new BufferedInputStream(in));
      while (true) {
        FeedBatch batch = owned.getAndSet(numbers.readInt(), null);
        if (batch != null) {
          batch.close();
        }
      }
    } catch (IOException | IndexOutOfBoundsException e) {
      onAbandoned.run();
    }
  }
}
