package io.zrecord.internal.store;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.FileStems;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.slf4j.LoggerFactory;

/**
 * Chunks and tables in the directory of a store that no state of the store names (FORMAT.md section
 * 9). They come from a rewrite that was cut short before it was published, or before the old files
 * were deleted, and from writers that were killed. Only files with a writer's names count; other
 * files are never touched. Stateless.
 */
public final class StoreLeftovers {
  private static final Pattern CHUNK = Pattern.compile("\\d+\\.zr");
  private static final Pattern TABLE = Pattern.compile("(.+)\\.(?:offset|crc32c)");

  private static final String CUT_JOURNAL = "journal.damaged-";

  private StoreLeftovers() {}

  /**
   * Returns the names of the leftovers.
   *
   * @param fields the fields of the meta file
   * @param chunks all chunks that the meta file or the journal names
   */
  public static List<String> of(
      MutableFiles files, List<FieldMeta> fields, Collection<ChunkMeta> chunks) {
    List<String> found = new ArrayList<>();
    Set<String> named = new HashSet<>();
    chunks.forEach(chunk -> named.add(chunk.fileName()));
    for (String name : files.list("chunk")) {
      if (CHUNK.matcher(name).matches() && !named.contains("chunk/" + name)) {
        found.add("chunk/" + name);
      }
    }
    Set<String> stems = new HashSet<>();
    fields.forEach(field -> stems.add(field.stem()));
    List<String> first = FileStems.of(fields.stream().map(FieldMeta::spec).toList());
    for (String name : files.list("")) {
      Matcher table = TABLE.matcher(name);
      if (table.matches() && !stems.contains(table.group(1))) {
        String stem = table.group(1);
        if (first.contains(stem) || FileStems.generation(stem) > 0) {
          found.add(name);
        }
      }
    }
    return found;
  }

  /**
   * Returns the stems for another generation of tables, in the order of the fields. No file has
   * them yet, not even a leftover.
   */
  public static List<String> nextStems(MutableFiles files, StoreMeta meta) {
    IntStream named =
        meta.shard().fields().stream().mapToInt(field -> FileStems.generation(field.stem()));
    IntStream present = of(files, meta).stream()
        .filter(name -> name.indexOf('/') < 0)
        .mapToInt(name -> FileStems.generation(name.substring(0, name.lastIndexOf('.'))));
    int generation = 1 + IntStream.concat(named, present).max().orElse(0);
    return meta.shard().fields().stream()
        .map(field -> FileStems.rewritten(field.spec().id(), generation))
        .toList();
  }

  /** Returns the names of the leftovers in a store with an empty journal. */
  public static List<String> of(MutableFiles files, StoreMeta meta) {
    List<ChunkMeta> chunks = new ArrayList<>(meta.shard().chunks());
    chunks.addAll(meta.unfull());
    return of(files, meta.shard().fields(), chunks);
  }

  /**
   * Returns the leftovers that opening the store deletes: those without an entry that points to
   * them, as far as can be told before the journal is replayed.
   *
   * @param found result of {@link #of}
   * @param length number of records of the store
   */
  public static List<String> deletable(
      MutableFiles files, List<FieldMeta> fields, List<String> found, long length) {
    if (found.isEmpty() || !areDeletable(files)) {
      return List.of();
    }
    List<EntryTable> tables = new ArrayList<>();
    try {
      fields.forEach(field -> tables.add(EntryTable.open(files, field.stem(), false)));
      return unused(found, tables, length);
    } finally {
      Closing.all(tables);
    }
  }

  private static List<String> unused(List<String> found, List<EntryTable> tables, long length) {
    Set<String> used = new HashSet<>();
    tables.forEach(
        table -> table.forEachChunk(length, chunk -> used.add(ChunkMeta.fileName(chunk))));
    return found.stream().filter(name -> !used.contains(name)).toList();
  }

  /**
   * Tells whether leftovers may be deleted. All leftovers stay while a journal cut off by a repair
   * exists, because it may name chunks that are still of interest.
   */
  private static boolean areDeletable(MutableFiles files) {
    return cutJournals(files).isEmpty();
  }

  /** Returns the names of the journals that repairs cut off. */
  public static List<String> cutJournals(MutableFiles files) {
    return files.list("").stream()
        .filter(name -> name.startsWith(CUT_JOURNAL))
        .sorted()
        .toList();
  }

  /**
   * Deletes the leftovers of a store with an empty journal and a durable meta file. Chunks that
   * entries of the store point to stay: where commits were lost, entries may have reached the
   * tables all the same. Files that cannot be deleted stay too.
   *
   * @param tables the store's tables, with at least {@code length} records
   * @param writer of the store; nothing is deleted when another has come
   */
  public static void remove(
      MutableFiles files, List<EntryTable> tables, long length, WriterToken writer) {
    try {
      List<String> found = areDeletable(files) ? of(files, StoreMetaFile.read(files)) : List.of();
      if (!found.isEmpty()) {
        files.delete(unused(found, tables, length), writer::require);
      }
    } catch (ZRecordException e) {
      LoggerFactory.getLogger(StoreLeftovers.class)
          .warn(
              "Leftovers of {} stay until it is opened again: {}",
              files.pathOf(""),
              e.getMessage());
    }
  }

  /**
   * Deletes tables that the meta file does not name, such as the copies of recoveries that were
   * killed, so that copies of them do not add up. The journal names no tables, so they are
   * nobody's, whatever else is lost. A reader that is just opening tables by an older meta file
   * reads the meta file again.
   *
   * @param kept stems of tables that stay
   * @param writer of the store; nothing is deleted when another has come
   */
  public static void removeTables(
      MutableFiles files, StoreMeta meta, Collection<String> kept, WriterToken writer) {
    Set<String> names = new HashSet<>();
    kept.forEach(stem -> names.addAll(EntryTable.fileNames(stem)));
    files.delete(
        of(files, meta).stream()
            .filter(name -> name.indexOf('/') < 0 && !names.contains(name))
            .toList(),
        writer::require);
  }

  /**
   * Deletes the files of a store that was turned into a table. The files of the table have other
   * names.
   */
  public static void removeStore(MutableFiles files, WriterToken writer) {
    List<String> names = new ArrayList<>();
    for (FieldMeta field : StoreMetaFile.read(files).shard().fields()) {
      names.addAll(EntryTable.fileNames(field.stem()));
    }
    names.addAll(List.of("chunk", Journal.FILE_NAME, LiveState.FILE_NAME, ShardMeta.FILE_NAME));
    files.delete(names, writer::require);
    writer.release();
  }
}
