package io.zrecord.internal.shard;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.Run;
import io.zrecord.internal.format.RunsFile;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A field in the layout {@code runs} (FORMAT.md section 5): values of one width in dense arrays.
 */
public final class DenseField implements OpenField {
  private static final int MAX_RUNS_FILE_BYTES = Integer.MAX_VALUE - 8;
  private static final int RUNS_HEADER_BYTES = 64;
  private static final int RUN_BYTES = 40;

  private final RunsFile file;
  private final Binding binding;
  private final String path;
  private final long[] firstIndices;
  private final long[] offsets;
  private final int[] chunkOrdinals;
  private final long typicalCount;
  private final @Nullable Windows validity;
  private final VerifiedBits verifiedBlocks;
  private final VerifiedBits verifiedValidity;

  private DenseField(
      String path,
      RunsFile file,
      Binding binding,
      int[] chunkOrdinals,
      @Nullable Windows validity) {
    this.path = path;
    this.file = file;
    this.binding = binding;
    this.chunkOrdinals = chunkOrdinals;
    this.validity = validity;
    this.firstIndices = file.runs().stream().mapToLong(Run::firstIndex).toArray();
    this.offsets = file.runs().stream().mapToLong(Run::offset).toArray();
    this.typicalCount = file.runs().isEmpty() ? 1 : file.runs().get(0).count();
    this.verifiedBlocks = new VerifiedBits(file.blockChecksums().length);
    this.verifiedValidity = new VerifiedBits(file.validityChecksums().length);
  }

  /** Returns the length of a file in which every record is a run of its own. */
  private static int maxFileBytes(long length, int width) {
    long blocks = length + length / Run.BLOCK_BYTES * width + length / Run.BLOCK_BYTES / 8 + 2;
    long most = RUNS_HEADER_BYTES + length * RUN_BYTES + blocks * Integer.BYTES + Integer.BYTES;
    return length > MAX_RUNS_FILE_BYTES || most > MAX_RUNS_FILE_BYTES || most < 0
        ? MAX_RUNS_FILE_BYTES
        : (int) most;
  }

  static DenseField open(OpenShard shard, FieldMeta field) {
    String name = field.stem() + ".runs";
    String path = shard.pathOf(name);
    long length = shard.meta().length();
    int width = field.spec().valueWidthBytes().orElseThrow();
    Binding binding = new Binding(shard.meta().id(), field.spec().id());
    RunsFile file = RunsFile.read(
        path,
        shard.read(name, maxFileBytes(length, width)),
        length,
        width,
        shard.meta().hasChecksums(),
        binding);
    List<Run> runs = file.runs();
    int[] chunkOrdinals = new int[runs.size()];
    for (int i = 0; i < chunkOrdinals.length; i++) {
      Run run = runs.get(i);
      chunkOrdinals[i] = shard.chunkOrdinal(run.chunkId());
      if (chunkOrdinals[i] < 0
          || run.offset() > shard.chunks().get(chunkOrdinals[i]).endBytes() - run.count() * width) {
        throw new CorruptDataException(
            path,
            "Cannot read " + path + ": run " + i + " is not within a chunk of the shard: " + run
                + ". Restore the file from a copy");
      }
    }
    if (field.absentCount() > 0 && !file.hasValidity()) {
      throw new CorruptDataException(
          path,
          "Cannot read " + path + ": the shard has " + field.absentCount()
              + " absent values of the field, but the file says there is none. Restore the file from a copy");
    }
    Windows validity =
        file.hasValidity() ? shard.open(field.stem() + ".valid", (length + 7) / 8) : null;
    return new DenseField(path, file, binding, chunkOrdinals, validity);
  }

  /** Returns the full path of the file of the runs. */
  String path() {
    return path;
  }

  public boolean hasChecksums() {
    return file.hasChecksums();
  }

  public int widthBytes() {
    return file.widthBytes();
  }

  int runCount() {
    return chunkOrdinals.length;
  }

  public Run run(int ordinal) {
    return file.runs().get(ordinal);
  }

  public int chunkOrdinal(int run) {
    return chunkOrdinals[run];
  }

  /** Returns the position in its chunk of a value of a run. */
  public long position(int run, long index) {
    return offsets[run] + (index - firstIndices[run]) * file.widthBytes();
  }

  /** Returns the ordinal of the run that contains the value. */
  public int runOf(long index) {
    // Runs of a bulk writer have the same length, except the last.
    int guess = (int) Math.min(index / typicalCount, firstIndices.length - 1);
    if (index >= firstIndices[guess]
        && (guess + 1 == firstIndices.length || index < firstIndices[guess + 1])) {
      return guess;
    }
    int low = 0;
    int high = firstIndices.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (firstIndices[middle] <= index) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /** Returns what binds the checksums of the field. */
  public Binding binding() {
    return binding;
  }

  public int blockChecksum(long block) {
    return file.blockChecksums()[(int) block];
  }

  public boolean isVerified(long block) {
    return verifiedBlocks.isSet(block);
  }

  /** Tells whether every block was verified. */
  public boolean isAllVerified() {
    return verifiedBlocks.isAllSet();
  }

  public void setVerified(long block) {
    verifiedBlocks.set(block);
  }

  /** Returns the bits that tell which values are present; null if all are. */
  @Nullable
  public Windows validity() {
    return validity;
  }

  public int validityChecksum(int block) {
    return file.validityChecksums()[block];
  }

  public boolean isValidityVerified(int block) {
    return verifiedValidity.isSet(block);
  }

  public void setValidityVerified(int block) {
    verifiedValidity.set(block);
  }
}
