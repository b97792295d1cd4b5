package io.zrecord.internal.table;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.format.TemporaryNames;
import io.zrecord.internal.format.WriterNames;
import io.zrecord.schema.FileStems;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Files of a store in the directory of the table that it became, as a conversion leaves them that
 * is killed at its end (FORMAT.md section 21.4). Only files with a writer's names count. Stateless.
 */
public final class LeftOfStore {
  private static final Pattern TABLE = Pattern.compile("(.+)\\.(?:offset|crc32c)");
  private static final Set<String> FIXED = Set.of("chunk", "journal", "live", ShardMeta.FILE_NAME);

  private LeftOfStore() {}

  /**
   * Returns what replacements, deletions and writers left. Each of these files means nothing by
   * itself.
   */
  public static List<StoredFile> single(Storage table) {
    return table.list("").stream()
        .filter(
            file -> TemporaryNames.isLeftOfStore(file.name()) || WriterNames.isName(file.name()))
        .toList();
  }

  /**
   * Returns the files of the store itself, in the order in which to delete them: the meta file,
   * which names the others, is the last. Without a meta file that can be read there are none.
   */
  public static List<StoredFile> files(Storage table) {
    List<StoredFile> listed = table.list("");
    if (listed.stream().noneMatch(file -> file.name().equals(ShardMeta.FILE_NAME))) {
      return List.of();
    }
    Set<String> stems;
    try {
      stems = stems(StoreMeta.read(
          table.pathOf(ShardMeta.FILE_NAME),
          table.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES)));
    } catch (ZRecordException e) {
      return List.of();
    }
    List<StoredFile> found = new ArrayList<>();
    for (StoredFile file : listed) {
      Matcher entries = TABLE.matcher(file.name());
      if (FIXED.contains(file.name()) || (entries.matches() && isTable(entries.group(1), stems))) {
        found.add(file);
      }
    }
    found.sort(Comparator.comparing(file -> file.name().equals(ShardMeta.FILE_NAME)));
    return found;
  }

  private static boolean isTable(String stem, Set<String> stems) {
    return stems.contains(stem) || FileStems.generation(stem) > 0;
  }

  private static Set<String> stems(StoreMeta meta) {
    List<FieldMeta> fields = meta.shard().fields();
    Set<String> stems =
        new HashSet<>(FileStems.of(fields.stream().map(FieldMeta::spec).toList()));
    fields.forEach(field -> stems.add(field.stem()));
    return stems;
  }
}
