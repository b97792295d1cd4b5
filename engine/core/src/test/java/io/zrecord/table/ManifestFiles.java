package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.Crc32c;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A table of two versions, whose manifests tests change on disk. */
abstract class ManifestFiles {
  @TempDir
  Path directory;

  RecordTable table;

  @BeforeEach
  void create() {
    Storage storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 1, 2, 3);
    table.commit(Shards.append(OptionalLong.empty(), shard));
    table.commit(Shards.append(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 4)));
  }

  Path manifest(int version) {
    return directory.resolve("manifest").resolve(String.format("%020d.json", version));
  }

  static byte[] sealed(String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    String seal =
        ",\"crc32c\":\"" + HexFormat.of().toHexDigits(Crc32c.of(body, 0, body.length)) + "\"}\n";
    return (json + seal).getBytes(StandardCharsets.UTF_8);
  }

  /** Changes the body of the manifest of version 1, and seals it again. */
  void rewrite(String from, String to) throws IOException {
    rewrite(1, from, to);
  }

  void rewrite(int version, String from, String to) throws IOException {
    String text = Files.readString(manifest(version));
    String body = text.substring(0, text.lastIndexOf(",\"crc32c\""));
    assertThat(body).contains(from);
    Files.write(manifest(version), sealed(body.replace(from, to)));
  }

  Path tagFile() {
    return directory.resolve("tag").resolve(UUID.randomUUID() + ".json");
  }

  void append(RecordTable to) {
    ShardSummary shard = Shards.write(table.storage(), Shards.SCHEMA, 9);
    to.commit(Shards.append(Shards.newest(table), shard));
  }
}
