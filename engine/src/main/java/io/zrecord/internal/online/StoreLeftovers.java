package io.zrecord.internal.online;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.Stems;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.Closing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * Chunks and tables in the directory of a store that no state of it names (FORMAT.md section 9): of a rewrite that was cut short before
 * it was published, or after that and before what it replaced was deleted, and chunks of a writer that was killed. Only names that a writer
 * gives count; whatever else stands there is not touched. Stateless.
 */
public final class StoreLeftovers {
  private static final Pattern CHUNK = Pattern.compile("\\d+\\.zr");
  private static final Pattern TABLE = Pattern.compile("(.+)\\.(?:offset|crc32c)");

  private static final String CUT_JOURNAL = "journal.damaged-";

  private StoreLeftovers() {}

  /**
   * Their names.
   *
   * @param fields the fields as the meta file has them
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
    List<String> first = Stems.of(fields.stream().map(FieldMeta::spec).toList());
    for (String name : files.list("")) {
      Matcher table = TABLE.matcher(name);
      if (table.matches() && !stems.contains(table.group(1))) {
        String stem = table.group(1);
        if (first.contains(stem) || Stems.generation(stem) > 0) {
          found.add(name);
        }
      }
    }
    return found;
  }

  /** Their names in a store whose journal is empty. */
  public static List<String> of(MutableFiles files, StoreMeta meta) {
    List<ChunkMeta> chunks = new ArrayList<>(meta.shard().chunks());
    chunks.addAll(meta.unfull());
    return of(files, meta.shard().fields(), chunks);
  }

  /**
   * Those of them that opening the store deletes: none that an entry points to, as far as can be told before the journal is replayed.
   *
   * @param found by {@link #of}
   * @param length records of the store
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

  /** As long as there is a journal that a repair cut off everything stays, for it may name chunks that somebody wants to look into. */
  private static boolean areDeletable(MutableFiles files) {
    return cutJournals(files).isEmpty();
  }

  /** Names of the journals that a repair cut off. */
  static List<String> cutJournals(MutableFiles files) {
    return files.list("").stream()
        .filter(name -> name.startsWith(CUT_JOURNAL))
        .sorted()
        .toList();
  }

  /**
   * Deletes those of a store whose journal is empty, and whose meta file is durable, but for chunks that entries of the store point to:
   * where commits were lost, they may have reached the tables all the same. What cannot be deleted stays.
   *
   * @param tables those of the store, with so many records
   */
  static void remove(MutableFiles files, List<EntryTable> tables, long length) {
    try {
      List<String> found =
          areDeletable(files) ? of(files, StoreRewrite.readMeta(files)) : List.of();
      if (!found.isEmpty()) {
        unused(found, tables, length).forEach(files::delete);
      }
    } catch (ZRecordException e) {
      LoggerFactory.getLogger(StoreLeftovers.class)
          .warn(
              "Leftovers of {} stay until it is opened again: {}",
              files.pathOf(""),
              e.getMessage());
    }
  }
}
