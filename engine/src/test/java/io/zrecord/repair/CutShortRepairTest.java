package io.zrecord.repair;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.MortalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.Tag;
import io.zrecord.testing.Cases;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A repair of a table that is killed before any of its calls. The next repair does what is left:
 * the table has the newest readable version, and the tag that the lost versions made.
 */
final class CutShortRepairTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("label", ElementType.I32).build();

  @TempDir
  Path directory;

  /** What happened to the versions that made and kept the tag. */
  private enum Loss {
    DAMAGED,
    MISSING,
    NEWEST_DAMAGED_ONLY
  }

  private static void append(Path path) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("label", 1).endRecord();
      writer.commit();
    }
  }

  /** Makes versions 0 and 1, a tag of version 0 as version 2, and version 3; loses the last two. */
  private Path damaged(String name, Loss loss) throws IOException {
    Path path = directory.resolve(name);
    append(path);
    append(path);
    RecordTable.at(LocalStorage.at(path)).tag(0, "kept");
    if (loss != Loss.NEWEST_DAMAGED_ONLY) {
      append(path);
    }
    for (int version = 2; version < 4; version++) {
      Path manifest = manifest(path, version);
      if (loss == Loss.MISSING) {
        Files.delete(manifest);
      } else if (Files.exists(manifest)) {
        Files.writeString(manifest, "damaged");
      }
    }
    return path;
  }

  private static Path manifest(Path path, int version) {
    return path.resolve("manifest").resolve(String.format("%020d.json", version));
  }

  private static RepairReport repair(Storage storage) {
    return new TableRepair(storage, true).run(finding -> {}, plan -> true);
  }

  private static void requireRepaired(Path path, String description) {
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    assertThat(table.tags())
        .as(description)
        .singleElement()
        .extracting(Tag::name, Tag::version)
        .containsExactly("recovered-0", 0L);
    assertThat(table.latest().operation()).as(description).isEqualTo("repair");
    assertThat(table.latest().length()).as(description).isEqualTo(2);
    assertThat(DatasetCheck.of(path.toString()).run(finding -> {}).isSound())
        .as(description)
        .isTrue();
    assertThat(repair(LocalStorage.at(path)).plan().actions())
        .as("%s: nothing is left to do", description)
        .isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void theNextRepairDoesTheRest(Loss loss) throws IOException {
    MortalStorage whole =
        new MortalStorage(LocalStorage.at(damaged(loss + "-whole", loss)), Integer.MAX_VALUE);
    repair(whole.storage());
    int calls = whole.calls();
    assertThat(calls).isGreaterThan(10);
    for (long call : Cases.between(0, calls + 1)) {
      Path path = damaged(loss + "-" + call, loss);
      MortalStorage mortal = new MortalStorage(LocalStorage.at(path), (int) call);
      try {
        repair(mortal.storage());
      } catch (MortalStorage.KilledError e) {
        // What is done stays.
      }
      assertThat(mortal.isKilled()).isEqualTo(call < calls);
      String description = loss + ", killed before call " + call;
      RepairReport rest = repair(LocalStorage.at(path));
      assertThat(rest.plan().remaining()).as(description).isEmpty();
      assertThat(rest.isDone()).as(description).isEqualTo(!rest.plan().actions().isEmpty());
      requireRepaired(path, description);
    }
  }

  /** Kills repairs until the newest manifest is moved aside, before anything is published. */
  private static void killAfterMove(Path path, int newest) {
    for (int call = 0; Files.exists(manifest(path, newest)); call++) {
      try {
        repair(new MortalStorage(LocalStorage.at(path), call).storage());
      } catch (MortalStorage.KilledError e) {
        // Before the move, or directly after.
      }
    }
  }

  /** A manifest that is moved aside has both names for a moment. */
  @Test
  void aManifestWithBothNamesIsMovedAgain() throws IOException {
    Path path = damaged("both", Loss.DAMAGED);
    killAfterMove(path, 3);
    try (Stream<Path> files = Files.list(path.resolve("manifest"))) {
      Path aside = files
          .filter(file -> file.getFileName().toString().contains("3.json.damaged"))
          .findFirst()
          .orElseThrow();
      Files.createLink(manifest(path, 3), aside);
    }
    repair(LocalStorage.at(path));
    requireRepaired(path, "with both names");
  }

  /** Somebody published on top of the version that the repair went back to. */
  @Test
  void aVersionThatCameBetweenIsKept() throws IOException {
    Path path = damaged("between", Loss.NEWEST_DAMAGED_ONLY);
    killAfterMove(path, 2);
    Storage storage = LocalStorage.at(path);
    storage.delete("manifest/latest");
    append(path);
    assertThat(repair(storage).isDone()).isTrue();
    RecordTable table = RecordTable.at(storage);
    assertThat(table.latest().length()).isEqualTo(3);
    assertThat(table.tags()).extracting(Tag::name).containsExactly("recovered-0");
    assertThat(repair(storage).plan().actions()).isEmpty();
  }

  @Test
  void withoutARequestItIsOnlySaid() throws IOException {
    Path path = damaged("asked", Loss.NEWEST_DAMAGED_ONLY);
    killAfterMove(path, 2);
    LocalStorage.at(path).delete("manifest/latest");
    RepairReport asked = DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true);
    assertThat(asked.isDone()).isFalse();
    assertThat(asked.plan().remaining()).anyMatch(text -> text.contains("was cut short"));
  }
}
