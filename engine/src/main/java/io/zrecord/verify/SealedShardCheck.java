package io.zrecord.verify;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.verify.Finding.Kind;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Checks a sealed shard (FORMAT.md section 3), either alone or as a manifest names it. Belongs to
 * one thread.
 */
final class SealedShardCheck {
  private final CheckRun run;
  private final MutableFiles files;
  private final Depth depth;

  /** How much of a shard is checked. */
  enum Depth {
    /** The existence and the length of all files. */
    FILES,
    /** Also every value. */
    VALUES
  }

  SealedShardCheck(CheckRun run, MutableFiles files, Depth depth) {
    this.run = run;
    this.files = files;
    this.depth = depth;
  }

  /** Checks the shard at the root of the files. */
  void checkAlone() {
    Optional<ShardMeta> read = readMeta(ShardMeta.FILE_NAME, 0, 0);
    if (read.isPresent()) {
      long bytes = read.get().fields().stream().mapToLong(FieldMeta::valueBytes).sum();
      run.expect(bytes);
      run.beginPart(read.get().length(), bytes);
      check("", read.get(), 0);
      run.endPart();
    }
  }

  /**
   * Checks a shard of a table.
   *
   * @param schema the fields of the version that names the shard
   * @param firstIndex index of the shard's first record in that version
   */
  void check(ShardSummary shard, RecordSchema schema, long firstIndex) {
    String prefix = shard.directory() + "/";
    Optional<ShardMeta> read = readMeta(prefix + shard.metaFile(), firstIndex, shard.length());
    if (read.isEmpty()) {
      return;
    }
    ShardMeta meta = read.get();
    String path = files.pathOf(prefix + shard.metaFile());
    if (!meta.id().equals(shard.id()) || meta.length() != shard.length()) {
      run.found(new Finding(
          Kind.META,
          path,
          null,
          firstIndex,
          shard.length(),
          "it is of shard " + meta.id() + " with " + meta.length()
              + " records, but the manifest says shard " + shard.id() + " with " + shard.length()));
      return;
    }
    checkAgainst(path, meta, shard, schema);
    check(prefix, meta, firstIndex);
  }

  private Optional<ShardMeta> readMeta(String name, long firstIndex, long count) {
    String path = files.pathOf(name);
    try {
      return Optional.of(ShardMeta.read(path, files.read(name, SealedJson.MAX_BYTES)));
    } catch (ZRecordException e) {
      run.found(new Finding(Kind.META, path, null, firstIndex, count, FileProblem.of(e)));
      return Optional.empty();
    }
  }

  private void checkAgainst(String path, ShardMeta meta, ShardSummary shard, RecordSchema schema) {
    int checksum = SealedJson.checksum(
        path, files.read(shard.directory() + "/" + shard.metaFile(), SealedJson.MAX_BYTES));
    if (checksum != shard.metaChecksum()) {
      run.found(
          Kind.META,
          path,
          "its checksum is " + HexFormat.of().toHexDigits(checksum) + ", but the manifest says "
              + HexFormat.of().toHexDigits(shard.metaChecksum()) + ": it was replaced");
    }
    long chunkBytes =
        meta.chunks().stream().mapToLong(chunk -> chunk.endBytes()).sum();
    if (meta.chunks().size() != shard.chunkCount() || chunkBytes != shard.chunkBytes()) {
      run.found(
          Kind.COUNT,
          path,
          "it has " + meta.chunks().size() + " chunks of " + chunkBytes
              + " bytes, but the manifest says " + shard.chunkCount() + " of "
              + shard.chunkBytes());
    }
    for (FieldMeta field : meta.fields()) {
      FieldSpec expected = schema.find(field.spec().id()).orElse(null);
      if (expected != null
          && (!expected.type().equals(field.spec().type())
              || !expected.shape().equals(field.spec().shape()))) {
        run.found(
            Kind.META,
            path,
            expected.name(),
            "it is " + field.spec().type() + field.spec().shape() + " here, but the manifest says "
                + expected.type() + expected.shape());
      }
      Long bytes = shard.valueBytes().get(field.spec().id());
      if (bytes != null && bytes != field.valueBytes()) {
        run.found(
            Kind.COUNT,
            path,
            field.spec().name(),
            "it has " + field.valueBytes() + " bytes of values, but the manifest says " + bytes);
      }
    }
  }

  private void check(String prefix, ShardMeta meta, long firstIndex) {
    try (ChunkFiles chunks = new ChunkFiles(files, prefix, meta.id(), meta.chunks(), new CarriedBytes())) {
      chunks.check(run);
      for (FieldMeta field : meta.fields()) {
        if (field.layout() == FieldMeta.Layout.RUNS) {
          new RunsCheck(run, files, prefix, meta, field, firstIndex)
              .check(depth == Depth.VALUES ? chunks : null);
        } else {
          checkEntries(prefix, meta, field, firstIndex, chunks);
        }
      }
    }
    if (!meta.hasChecksums()) {
      run.found(
          Kind.NOTE,
          files.pathOf(prefix + ShardMeta.FILE_NAME),
          "the shard was written without checksums: damage of its values cannot be seen");
    }
  }

  private void checkEntries(
      String prefix, ShardMeta meta, FieldMeta field, long firstIndex, ChunkFiles chunks) {
    try (EntryFiles entries = new EntryFiles(files, prefix, field, meta.hasChecksums())) {
      entries.check(run, meta.length());
      if (depth == Depth.VALUES) {
        EntriesCheck check = new EntriesCheck(run, field, firstIndex);
        try (ValueCheck values =
            new ValueCheck(meta.id(), field.spec(), meta.hasChecksums(), chunks, run.scratch)) {
          check.check(entries, meta.length(), EntriesCheck.Overlay.NONE, values);
        }
        check.compareSums(entries.path());
      }
    }
  }
}
