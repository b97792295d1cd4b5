package io.zrecord.internal.store.verify;

import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.verify.ChunkFiles;
import io.zrecord.internal.verify.FileWindow;
import org.jspecify.annotations.Nullable;

/**
 * Reads the bytes of chunks that the journal of a store carries over those of the chunk files, as
 * opening the store would write them. Belongs to one thread.
 */
final class CarriedOverlay implements ChunkFiles.Overlay {
  private final MutableFiles files;
  private final CarriedBytes carried;
  private @Nullable FileWindow journal;

  CarriedOverlay(MutableFiles files, CarriedBytes carried) {
    this.files = files;
    this.carried = carried;
  }

  @Override
  public long lengthAfter(int chunk, long fileBytes) {
    return carried.lengthAfter(chunk, fileBytes);
  }

  @Override
  public int apply(int chunk, long position, byte[] target, int offset, int length, int found) {
    if (carried.isEmpty()) {
      return found;
    }
    long end = position + length;
    for (CarriedBytes.Piece piece : carried.within(chunk, position, end)) {
      long from = Math.max(position, piece.position());
      int bytes = (int) (Math.min(end, piece.end()) - from);
      if (bytes > 0) {
        journal()
            .read(
                piece.journalAt() + from - piece.position(),
                target,
                offset + (int) (from - position),
                bytes);
      }
    }
    return length;
  }

  private FileWindow journal() {
    FileWindow window = journal;
    if (window == null) {
      window = new FileWindow(files.open(JournalRecord.FILE_NAME, false));
      journal = window;
    }
    return window;
  }

  @Override
  public void close() {
    if (journal != null) {
      journal.close();
      journal = null;
    }
  }
}
