package io.zrecord.sharing;

import io.zrecord.feed.BatchMemory;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.internal.io.SharedFile;
import io.zrecord.schema.FieldSpec;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Sends the batches of a feed to another process. Values stay where loaders put them, in a file that both map; a stream has one message
 * for each batch. The other process owns a batch until it sends the batch's number back, and what it owns is not written to. It may own
 * as many batches as the feed is deep: then nothing is loaded until one comes back.
 *
 * <pre>
 * message   length i32 | kind i32 | payload
 * header    kind 1, first; JSON
 * batch     kind 2; i64 words, then JSON to the end: the state to resume with behind the batch
 *           number | count | epoch | batches of the training before it | bytes of the file | where the indices are (i64 each)
 *           of each field: where the values are | their bytes | steps of each, if they were padded to one length, or -1
 *                          | where their ends are (i32 each), or -1 if all have one length
 *                          | where the marks of absent values are (u8 each, 1 is absent), or -1 if none is
 * end       kind 3; nothing comes after it
 * release   the other way: number i32, not framed
 * </pre>
 *
 * <p>Places are offsets in the file. It grows, and a message may name places behind the end that the other process has mapped. Numbers
 * are little-endian, those of releases big-endian. One thread sends.
 */
public final class SharedBatches {
  private final SharedArena arena;
  private final OutputStream out;
  private final InputStream in;
  private final AtomicReferenceArray<@Nullable FeedBatch> owned;

  /**
   * @param file for the values
   * @param depth of the feed
   * @param out where messages are sent to
   * @param in where releases come from; when it ends, the other process does not want more
   */
  public SharedBatches(SharedFile file, int depth, OutputStream out, InputStream in) {
    this.arena = new SharedArena(file);
    this.owned = new AtomicReferenceArray<>(depth);
    this.out = out;
    this.in = in;
  }

  /** For {@link io.zrecord.feed.FeedBuilder#memory}. */
  public BatchMemory memory() {
    return arena;
  }

  /**
   * Sends all batches.
   *
   * @param feed with {@link #memory}, the depth, and a timeout as long as the other process may keep batches
   * @param fields those of the feed, in the order wanted in messages
   * @param header JSON for the other process
   * @param onAbandoned called when the other process does not want more, by another thread
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
      // The feed has as many batches as there are numbers, so that one is free when it gives a
      // batch.
      FeedBatch batch = feed.next();
      if (batch == null) {
        break;
      }
      int number = 0;
      while (!owned.compareAndSet(number, null, batch)) {
        number++;
      }
      out.write(messages.batch(number, batch));
    }
    out.write(BatchMessages.end());
  }

  private void takeReleases(Runnable onAbandoned) {
    try {
      DataInputStream numbers = new DataInputStream(in);
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
